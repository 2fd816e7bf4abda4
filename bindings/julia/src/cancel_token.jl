# Cancel tokens.
#
# SPDX-License-Identifier: Apache-2.0

"""
    CancelToken()

Permanently ends the opening and every wait of the datasets and loaders created with it (`Loader(...; cancel_token = token)`),
when any thread calls `cancel(token)`. They then throw a [`DatalineError`](@ref) with `code == Dataline.CANCELLED`.
"""
mutable struct CancelToken
    handle::Handle
    function CancelToken()
        out = Ref{Handle}(C_NULL)
        check(error -> dl_cancel_token_create(out, error))
        return finalizer(token -> in_finalizer(t -> dl_cancel_token_destroy(t.handle), token), new(out[]))
    end
end

"""
    cancel(token::CancelToken)
    cancel(loader::Loader)

Ends every current and later wait with `Dataline.CANCELLED`. For a token: the waits of everything created with it, permanently.
For a loader: until a [`seek!`](@ref) or [`load_state!`](@ref). Any thread; never blocks. Does nothing on a closed loader.
"""
cancel(token::CancelToken) = GC.@preserve token dl_cancel_token_cancel(token.handle)
