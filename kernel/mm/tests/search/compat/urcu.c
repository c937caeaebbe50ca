// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <urcu.h>

#ifndef URCU_AT_ONCE
#define URCU_AT_ONCE 0
#endif

/* Prefer writers, or readers in a loop would keep them waiting for ever. */
static pthread_rwlock_t readers = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static __thread unsigned int nesting;

/* Protects the callbacks that wait for a grace period, newest last. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct rcu_head *first, **last = &first;
static unsigned long queued, called;

void rcu_read_lock(void)
{
	if (!nesting++)
		pthread_rwlock_rdlock(&readers);
}

void rcu_read_unlock(void)
{
	if (!--nesting)
		pthread_rwlock_unlock(&readers);
}

static void grace_period(void)
{
	pthread_rwlock_wrlock(&readers);
	pthread_rwlock_unlock(&readers);
}

static void *caller(void *unused)
{
	(void)unused;
	for (;;) {
		struct rcu_head *head, *next;
		unsigned long n = 0;

		pthread_mutex_lock(&lock);
		while (!first)
			pthread_cond_wait(&changed, &lock);
		head = first;
		first = NULL;
		last = &first;
		pthread_mutex_unlock(&lock);

		grace_period();
		for (; head; head = next, n++) {
			next = head->next;
			head->func(head);
		}

		pthread_mutex_lock(&lock);
		called += n;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	static int running;

	/* For benchmarks with one thread: a grace period takes no time. */
	if (URCU_AT_ONCE) {
		func(head);
		return;
	}
	head->next = NULL;
	head->func = func;
	pthread_mutex_lock(&lock);
	if (!running) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, caller, NULL))
			abort();
		pthread_detach(thread);
		running = 1;
	}
	*last = head;
	last = &head->next;
	queued++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void rcu_barrier(void)
{
	unsigned long until;

	pthread_mutex_lock(&lock);
	until = queued;
	while (called < until)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}
