# Cancel tokens.
#
# SPDX-License-Identifier: Apache-2.0

"""
    CancelToken()

Ends opening and every wait of the datasets and loaders made with it (`Loader(...; cancel_token = token)`), for good:
`cancel(token)`, from any thread. They then throw a [`DatalineError`](@ref) with `code == Dataline.CANCELLED`.
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

Ends every wait now and later with `Dataline.CANCELLED`: of all that was made with the token, for good; of a loader, until
a [`seek!`](@ref) or [`load_state!`](@ref). Any thread; never blocks. On a closed loader it does nothing.
"""
cancel(token::CancelToken) = GC.@preserve token dl_cancel_token_cancel(token.handle)
