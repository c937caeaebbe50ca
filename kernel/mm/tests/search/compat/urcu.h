/* SPDX-License-Identifier: MIT */
/*
 * The part of liburcu that the kernel's user-space harness
 * (tools/testing/shared) uses, with one lock: readers hold it shared, and a
 * grace period ends when a writer gets it. Slow and simple; the tests measure
 * steps, not time.
 */
#ifndef COMPAT_URCU_H
#define COMPAT_URCU_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <urcu/uatomic.h>

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};

void rcu_read_lock(void);	/* nests */
void rcu_read_unlock(void);
/* func(head) is called in another thread after a grace period. */
void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head));
/* Returns when all callbacks given to call_rcu() so far have been called. */
void rcu_barrier(void);

static inline void rcu_register_thread(void) { }
static inline void rcu_unregister_thread(void) { }

#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_assign_pointer(p, v) \
	__atomic_store_n(&(p), (__typeof__(p))(v), __ATOMIC_RELEASE)

#endif
