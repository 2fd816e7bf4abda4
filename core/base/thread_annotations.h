// Lock rules that clang checks (-Wthread-safety); other compilers see nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__clang__)
#define DL_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define DL_THREAD_ANNOTATION(x)
#endif

// Of types: a lock, and an object that holds one for its scope.
#define DL_CAPABILITY(name) DL_THREAD_ANNOTATION(capability(name))
#define DL_SCOPED_CAPABILITY DL_THREAD_ANNOTATION(scoped_lockable)
// Of data: the lock under which it, or what it points at, is read and written.
#define DL_GUARDED_BY(lock) DL_THREAD_ANNOTATION(guarded_by(lock))
#define DL_PT_GUARDED_BY(lock) DL_THREAD_ANNOTATION(pt_guarded_by(lock))
// Of functions: called with, called without; takes, gives back, takes if it returns `result`.
#define DL_REQUIRES(...) DL_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define DL_EXCLUDES(...) DL_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define DL_ACQUIRE(...) DL_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define DL_RELEASE(...) DL_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define DL_TRY_ACQUIRE(...) DL_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
// Tells the analysis what it cannot see: the lock is held here, whichever the caller; the function returns this lock.
#define DL_ASSERT_CAPABILITY(...) DL_THREAD_ANNOTATION(assert_capability(__VA_ARGS__))
#define DL_RETURN_CAPABILITY(lock) DL_THREAD_ANNOTATION(lock_returned(lock))
// Each use says why the rule cannot be written down.
#define DL_NO_THREAD_SAFETY_ANALYSIS DL_THREAD_ANNOTATION(no_thread_safety_analysis)
