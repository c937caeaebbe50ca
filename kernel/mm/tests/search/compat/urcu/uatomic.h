/* SPDX-License-Identifier: MIT */
/* liburcu's atomic operations that the kernel's user-space harness uses. */
#ifndef COMPAT_URCU_UATOMIC_H
#define COMPAT_URCU_UATOMIC_H

#define uatomic_read(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define uatomic_set(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define uatomic_inc(p) ((void)__atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST))
#define uatomic_dec(p) ((void)__atomic_sub_fetch(p, 1, __ATOMIC_SEQ_CST))
#define uatomic_xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
#define uatomic_cmpxchg(p, old, new) ({					\
	__typeof__(*(p)) expected_ = (old);				\
	__atomic_compare_exchange_n(p, &expected_, new, 0,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
	expected_; })

#endif
