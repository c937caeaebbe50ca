// SPDX-License-Identifier: MIT
/*
 * Looks up the running kernel's functions by address, in /proc/kallsyms.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct symbol {
	uint64_t address;
	char name[BENCH_SYMBOL_NAME];
};

static struct symbol *symbols;
static size_t symbol_count;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/**
 * bench_symbols_load - read the kernel's functions, once
 *
 * Entry 0 stands for all addresses below the first function: user space.
 *
 * Returns: the number of entries, or a negative errno; -EACCES if the kernel
 * hides the addresses.
 */
long bench_symbols_load(void)
{
	unsigned long long address;
	char line[512], type, name[256];
	size_t room = 0;
	struct symbol *s;
	FILE *f;

	if (symbol_count > 1)
		return symbol_count;
	f = fopen("/proc/kallsyms", "re");
	if (!f)
		return -errno;
	symbol_count = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %255s", &address, &type, name) != 3 ||
		    (type != 't' && type != 'T') || !address)
			continue;
		if (symbol_count + 1 >= room) {
			room = room ? 2 * room : 1 << 16;
			s = realloc(symbols, room * sizeof(*s));
			if (!s)
				break;
			symbols = s;
			if (!symbol_count)
				symbols[symbol_count++] =
					(struct symbol) { .name = "user space" };
		}
		s = &symbols[symbol_count++];
		*s = (struct symbol) { .address = address };
		snprintf(s->name, sizeof(s->name), "%.*s",
			 BENCH_SYMBOL_NAME - 1, name);
	}
	fclose(f);
	if (symbol_count < 2)
		return -EACCES;
	qsort(symbols, symbol_count, sizeof(*symbols), by_address);
	return symbol_count;
}

/**
 * bench_symbol_find - find the function that contains an address
 * @address: an address in the kernel, or 0 for user space
 *
 * bench_symbols_load() must have succeeded.
 *
 * Returns: the entry's number, for bench_symbol_name()
 */
size_t bench_symbol_find(uint64_t address)
{
	size_t lo = 0, hi = symbol_count, middle;

	while (hi - lo > 1) {
		middle = lo + (hi - lo) / 2;
		if (symbols[middle].address <= address)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

const char *bench_symbol_name(size_t number)
{
	return symbols[number].name;
}
