// SPDX-License-Identifier: MIT
/*
 * live-bos: options, plan and lead of a run; see live-bos.h.
 *
 * Every arm and domain has a process of its own, so that its maps and page
 * tables are its own. The processes grow and measure one after the other, while
 * all others sleep, so that compared samples are only moments apart. All BOs of
 * all arms at the largest population would not fit into the memory of a small
 * board, so from some population on the arms go on one by one; each ends before
 * the next goes on.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "radeon_drm.h"

#include "bench-options.h"
#include "live-bos.h"

/* Kernel memory of a BO beside its pages: radeon_bo, TTM, handle, offset. */
#define BO_OVERHEAD 2560u

struct worker_process {
	pid_t pid;
	int socket;
	unsigned int arm, domain;
	struct lb_row row;
};

static struct worker_process workers[LB_MAX_ARMS * LB_MAX_DOMAINS];
static unsigned int worker_count;

/* Bytes per object of a slab cache: the third number of its line. */
static unsigned int slab_bytes(const char *name)
{
	FILE *f = fopen("/proc/slabinfo", "re");
	unsigned int bytes = 0;
	char line[512], word[64];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %*u %*u %u", word, &bytes) == 2 &&
		    !strcmp(word, name))
			break;
		bytes = 0;
	}
	fclose(f);
	return bytes;
}

/* With per-VMA locks each mapping has a second object. */
static unsigned int vma_bytes(void)
{
	unsigned int vma = slab_bytes("vm_area_struct");

	return vma ? vma + slab_bytes("vma_lock") : 0;
}

static void start_workers(const struct lb_options *o)
{
	unsigned int a, d;
	int pair[2];
	pid_t pid;

	for (d = 0; d < lb_domain_count; d++) {
		for (a = 0; a < lb_arm_count; a++) {
			if (!o->arms[a] || !o->domains[d])
				continue;
			if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC,
				       0, pair)) {
				perror("live-bos: socketpair");
				exit(1);
			}
			pid = fork();
			if (pid < 0) {
				perror("live-bos: fork");
				exit(1);
			}
			if (pid == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				close(pair[0]);
				_exit(lb_worker(pair[1], a, d, o));
			}
			close(pair[1]);
			workers[worker_count++] = (struct worker_process) {
				.pid = pid,
				.socket = pair[0],
				.arm = a,
				.domain = d,
				.row = { .arm = a, .domain = d },
			};
		}
	}
}

static void reap(struct worker_process *w)
{
	int status = 0;

	close(w->socket);
	w->socket = -1;
	waitpid(w->pid, &status, 0);
	w->pid = 0;
	if (!w->row.error[0] && (!WIFEXITED(status) || WEXITSTATUS(status)))
		snprintf(w->row.error, sizeof(w->row.error),
			 "worker died: %s",
			 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
					       "exit status not 0");
}

static void tell(struct worker_process *w, enum lb_op op, unsigned int value)
{
	struct lb_command cmd = { .op = op, .value = value };

	if (w->socket >= 0)
		send(w->socket, &cmd, sizeof(cmd), MSG_NOSIGNAL);
}

static void hear(struct worker_process *w)
{
	struct lb_row row;

	if (w->socket < 0)
		return;
	if (recv(w->socket, &row, sizeof(row), 0) == sizeof(row))
		w->row = row;
	else
		reap(w);
}

/* Prints a line of progress: a phase and how long it took. */
static void progress(const struct lb_options *o, int arm, unsigned int live,
		     const char *what, uint64_t since)
{
	if (o->verbose)
		fprintf(stderr, "live-bos: %-9s %6u %-7s %6.1f s\n",
			arm < 0 ? "all" : lb_arms[arm].name, live, what,
			(bench_now() - since) / 1e9);
}

/* The number of BOs that a domain holds without evictions. */
static uint64_t capacity(const struct bench_device *dev, unsigned int domain)
{
	/* Room for the console, GPU copies and the rings. */
	const uint64_t spare = 8 << 20;
	uint64_t bytes = lb_domains[domain].domain == RADEON_GEM_DOMAIN_VRAM ?
			 dev->vram_visible : dev->gtt;

	return bytes > spare ? (bytes - spare) / LB_BO_SIZE : 0;
}

/*
 * Workers that take part in a round: those of one arm (or of all: arm < 0) in
 * the domains that want this population.
 */
static bool in_set(const struct lb_options *o, const struct worker_process *w,
		   int arm, unsigned int step)
{
	return (arm < 0 || w->arm == (unsigned int)arm) &&
	       o->wanted[w->domain][step];
}

/* Would the domain hold that many BOs of each worker in the set? */
static bool fits(const struct lb_results *r, unsigned int domain, int arm,
		 unsigned int step)
{
	const struct lb_options *o = r->options;
	const struct worker_process *w;
	uint64_t bos = 0;

	for (w = workers; w < workers + worker_count; w++)
		if (w->domain == domain && w->socket >= 0)
			bos += in_set(o, w, arm, step) ? o->live[step] :
							 w->row.live;
	return bos <= capacity(r->dev, domain);
}

/* Has a set of workers grow to one population, measure and verify it. */
static void round_at(struct lb_results *r, int arm, unsigned int step)
{
	const struct lb_options *o = r->options;
	unsigned int live = o->live[step], later, turn, i;
	struct worker_process *set[LB_MAX_ARMS * LB_MAX_DOMAINS];
	unsigned int count = 0;
	uint64_t start = bench_now();
	struct lb_row *row;

	for (i = 0; i < worker_count; i++) {
		if (!in_set(o, &workers[i], arm, step))
			continue;
		if (fits(r, workers[i].domain, arm, step)) {
			set[count++] = &workers[i];
			continue;
		}
		row = &r->rows[r->count++];
		*row = workers[i].row;
		row->requested = live;
		row->samples = 0;
		snprintf(row->error, sizeof(row->error),
			 "skipped: the CPU reaches %llu BOs' worth of %s",
			 (unsigned long long)capacity(r->dev, row->domain),
			 lb_domains[row->domain].name);
	}

	/* In turn, as side by side they would mostly wait for the driver's locks. */
	for (i = 0; i < count; i++) {
		tell(set[i], LB_GROW, live);
		hear(set[i]);
	}
	progress(o, arm, live, "grow", start);

	start = bench_now();
	for (turn = 0; turn < LB_TURNS; turn++) {
		for (i = 0; i < count; i++) {
			tell(set[i], LB_MEASURE, turn);
			hear(set[i]);
		}
	}
	progress(o, arm, live, "measure", start);

	start = bench_now();
	for (i = 0; i < count; i++) {
		for (later = step + 1; later < o->live_count; later++)
			if (o->wanted[set[i]->domain][later])
				break;
		tell(set[i], later < o->live_count ? LB_VERIFY_NEW :
						     LB_VERIFY_ALL, 0);
	}
	for (i = 0; i < count; i++) {
		hear(set[i]);
		set[i]->row.requested = live;
		r->rows[r->count++] = set[i]->row;
	}
	progress(o, arm, live, "verify", start);
}

/* Ends the workers of an arm, or all (arm < 0), side by side. */
static void finish(const struct lb_options *o, int arm)
{
	uint64_t start = bench_now();
	unsigned int i;

	for (i = 0; i < worker_count; i++)
		if (arm < 0 || workers[i].arm == (unsigned int)arm)
			tell(&workers[i], LB_QUIT, 0);
	for (i = 0; i < worker_count; i++)
		if ((arm < 0 || workers[i].arm == (unsigned int)arm) &&
		    workers[i].socket >= 0)
			reap(&workers[i]);
	progress(o, arm, 0, "end", start);
}

/* The largest population that a domain wants, at most @limit. */
static uint64_t largest(const struct lb_options *o, unsigned int domain,
			unsigned int limit)
{
	uint64_t best = 0;
	unsigned int i;

	for (i = 0; i < o->live_count; i++)
		if (o->wanted[domain][i] && o->live[i] <= limit)
			best = o->live[i];
	return best;
}

/*
 * The largest population that all arms can have at the same time, such that one
 * arm can still reach the largest of all while the others keep their BOs.
 */
static unsigned int lockstep(const struct lb_options *o,
			     const struct bench_device *dev)
{
	const uint64_t memory = bench_field("/proc/meminfo", "MemAvailable:");
	unsigned int i, a, d, arms = 0, best = 0;
	uint64_t bos, bytes;
	bool fit;

	for (a = 0; a < lb_arm_count; a++)
		arms += o->arms[a];
	for (i = 0; i < o->live_count; i++) {
		bytes = 0;
		fit = true;
		for (d = 0; d < lb_domain_count; d++) {
			if (!o->domains[d])
				continue;
			bos = largest(o, d, UINT32_MAX) +
			      (arms - 1) * largest(o, d, o->live[i]);
			fit &= bos <= capacity(dev, d);
			bytes += bos * BO_OVERHEAD;
			if (lb_domains[d].domain == RADEON_GEM_DOMAIN_GTT)
				bytes += bos * LB_BO_SIZE;
		}
		if (fit && bytes < memory * 1024 / 100 * 85)
			best = o->live[i];
	}
	return best;
}

static void run(struct lb_results *r)
{
	const struct lb_options *o = r->options;
	unsigned int i, a, k;

	start_workers(o);
	for (i = 0; i < o->live_count && o->live[i] <= r->lockstep; i++)
		round_at(r, -1, i);
	for (a = 0; i < o->live_count && a < lb_arm_count; a++) {
		if (!o->arms[a])
			continue;
		for (k = i; k < o->live_count; k++)
			round_at(r, a, k);
		/* Make room for the next arm. */
		finish(o, a);
	}
	finish(o, -1);
}

/* Returns false if there are too many populations. */
static bool want(struct lb_options *o, unsigned int domain, unsigned int live)
{
	unsigned int i, k;

	for (i = 0; i < o->live_count && o->live[i] < live; i++)
		;
	if (i == o->live_count || o->live[i] != live) {
		if (o->live_count == LB_MAX_LIVE)
			return false;
		for (k = o->live_count++; k > i; k--) {
			o->live[k] = o->live[k - 1];
			for (unsigned int d = 0; d < lb_domain_count; d++)
				o->wanted[d][k] = o->wanted[d][k - 1];
		}
		o->live[i] = live;
		for (unsigned int d = 0; d < lb_domain_count; d++)
			o->wanted[d][i] = false;
	}
	o->wanted[domain][i] = true;
	return true;
}

/*
 * [DOMAIN=]LIST: replaces the populations of the domain, or of all domains. Returns
 * what is wrong with the text, or NULL.
 */
static const char *parse_live(struct lb_options *o, const char *text)
{
	const char *p = text, *equal = strchr(text, '=');
	unsigned int d, first = 0, end = lb_domain_count;
	unsigned long n, last = 0;
	char *after;

	if (equal) {
		for (d = 0; d < lb_domain_count; d++)
			if (strlen(lb_domains[d].name) == (size_t)(equal - p) &&
			    !strncmp(lb_domains[d].name, p, equal - p))
				break;
		if (d == lb_domain_count)
			return "no such domain";
		first = d;
		end = d + 1;
		p = equal + 1;
	}
	for (d = first; d < end; d++)
		memset(o->wanted[d], false, sizeof(o->wanted[d]));
	do {
		n = strtoul(p, &after, 10);
		if (after == p || (*after && *after != ',') || n <= last ||
		    n > 10000000)
			return "not a list of populations that rises, to 10000000 at most";
		for (d = first; d < end; d++)
			if (!want(o, d, n))
				return "too many populations";
		last = n;
		p = after + 1;
	} while (*after);
	return NULL;
}

/* Drops populations that no domain wants any more. */
static void drop_unwanted(struct lb_options *o)
{
	unsigned int i, k, d, n = 0;
	bool wanted;

	for (i = 0; i < o->live_count; i++) {
		wanted = false;
		for (d = 0; d < lb_domain_count; d++) {
			o->wanted[d][i] &= o->domains[d];
			wanted |= o->wanted[d][i];
		}
		if (!wanted)
			continue;
		k = n++;
		o->live[k] = o->live[i];
		for (d = 0; d < lb_domain_count; d++)
			o->wanted[d][k] = o->wanted[d][i];
	}
	o->live_count = n;
}

/* Sets those of @set that the words of @text name. Returns false for another word. */
static bool parse_names(bool *set, const char *text, const char *(*name)(unsigned int))
{
	char *copy = strdup(text), *rest = copy, *word;
	bool ok = copy;
	unsigned int i;

	for (i = 0; name(i); i++)
		set[i] = false;
	while (ok && (word = strsep(&rest, ","))) {
		for (i = 0; name(i) && strcmp(name(i), word); i++)
			;
		ok = name(i);
		if (ok)
			set[i] = true;
	}
	free(copy);
	return ok;
}

static const char *arm_name(unsigned int i)
{
	return i < lb_arm_count ? lb_arms[i].name : NULL;
}

static const char *domain_name(unsigned int i)
{
	return i < lb_domain_count ? lb_domains[i].name : NULL;
}

static const char all_populations[] = "100,1000,10000,20000,40000,80000";

static const char *take_arms(void *data, const char *text)
{
	struct lb_options *o = data;

	return parse_names(o->arms, text, arm_name) ? NULL : "no such arm";
}

static const char *take_domains(void *data, const char *text)
{
	struct lb_options *o = data;

	return parse_names(o->domains, text, domain_name) ? NULL : "no such domain";
}

static const char *take_live(void *data, const char *text)
{
	return parse_live(data, text);
}

static const char *take_full(void *data, const char *text)
{
	(void)text;
	return parse_live(data, all_populations);
}

static const char *take_quick(void *data, const char *text)
{
	struct lb_options *o = data;

	(void)text;
	o->samples = 51;
	o->quick = true;
	return parse_live(o, "100,1000,5000");
}

static const char *take_verify(void *data, const char *text)
{
	static const char * const verify[] = { "auto", "pread", "gpu" };
	struct lb_options *o = data;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (!strcmp(verify[i], text)) {
			o->verify = i;
			return NULL;
		}
	}
	return "no such way to verify";
}

/* Columns after which a line of the help of --arms ends with the next name. */
#define ARMS_WIDTH 50u

/* The arms, and those that run by default. */
static const char *arms_help(void)
{
	static char text[512];
	unsigned int i, n = 0, line = 0;

	for (i = 0; i < lb_arm_count; i++) {
		if (i)
			n += snprintf(text + n, sizeof(text) - n, "%s",
				      n - line > ARMS_WIDTH ? ",\n" : ",");
		if (i && text[n - 1] == '\n')
			line = n;
		n += snprintf(text + n, sizeof(text) - n, "%s", lb_arms[i].name);
	}
	n += snprintf(text + n, sizeof(text) - n, "\n(default: ");
	for (i = 0; i < lb_arm_count; i++)
		if (!lb_arms[i].extra)
			n += snprintf(text + n, sizeof(text) - n, "%s%s", i ? "," : "",
				      lb_arms[i].name);
	snprintf(text + n, sizeof(text) - n, ")");
	return text;
}

static void parse(struct lb_options *o, int argc, char **argv)
{
	bool as_2011 = false, quick = false;
	const struct bench_option options[] = {
		{ .name = "arms", .argument = "LIST", .take = take_arms, .data = o,
		  .help = arms_help() },
		{ .name = "domains", .argument = "LIST", .take = take_domains, .data = o,
		  .help = "vram,gtt (default: both)" },
		{ .name = "live", .argument = "[DOMAIN=]LIST", .take = take_live, .data = o,
		  .help = "populations, ascending, of one domain or of all\n"
			  "(default: 100,1000,10000,20000,40000,80000; gtt, where\n"
			  "making a BO costs most: to 40000)" },
		{ .name = "full", .take = take_full, .data = o,
		  .help = "all populations in all domains" },
		{ .name = "samples", .argument = "N", .number = &o->samples, .least = 1,
		  .most = LB_MAX_SAMPLES,
		  .help = "BOs measured at each population (default: 201)" },
		{ .name = "verify", .argument = "HOW", .take = take_verify, .data = o,
		  .help = "auto (default), pread or gpu: how contents are checked" },
		{ .name = "libdrm", .argument = "FILE", .text = &o->libdrm,
		  .help = "the libdrm_radeon of libdrm and libdrm-map (default: the one\n"
			  "in ../libdrm/lib from this program, or else the system's)" },
		{ .name = "json", .argument = "FILE", .text = &o->json,
		  .help = "write the results there too" },
		{ .name = "verbose", .flag = &o->verbose,
		  .help = "say on stderr what takes how long" },
		{ .name = "quick", .flag = &quick, .take = take_quick, .data = o,
		  .help = "100,1000,5000 with 51 samples, and not what 2011 measured" },
		{ .name = "fitting", .flag = &o->fitting,
		  .help = "a population that does not fit the card is no failure" },
		{ .name = "count", .flag = &o->count, .help = BENCH_COUNT_HELP },
		{ .name = "as-2011", .flag = &as_2011,
		  .help = "with --quick: also what 2011 measured" },
		{ 0 }
	};
	const struct bench_program program = {
		.name = "live-bos",
		.line = "[OPTION...]",
		.options = options,
		.end =
		"Exit status: 0 if all was measured, also where an arm came to the end of\n"
		"what it can do; 1 if contents were wrong, a worker died or a population\n"
		"did not fit, without --fitting; 2 for a bad command line; 77 without a\n"
		"radeon device.\n",
	};
	unsigned int arm;

	for (arm = 0; arm < lb_arm_count; arm++)
		o->arms[arm] = !lb_arms[arm].extra;
	memset(o->domains, true, sizeof(o->domains));
	parse_live(o, all_populations);
	parse_live(o, "gtt=100,1000,10000,20000,40000");
	o->samples = 201;
	bench_options(&program, argc, argv);
	o->as_2011 = (as_2011 || !quick) && !o->count;
	o->clock = o->count ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	drop_unwanted(o);
}

/* Wrong contents and dead workers are failures; an arm that ends is not. */
static bool failed(const struct lb_results *r)
{
	unsigned int i;

	for (i = 0; i < r->count; i++)
		if (!strncmp(r->rows[i].error, "verify:", 7) ||
		    !strncmp(r->rows[i].error, "worker died", 11) ||
		    !strncmp(r->rows[i].error, "start:", 6) ||
		    (!strncmp(r->rows[i].error, "skipped:", 8) && !r->options->fitting) ||
		    r->rows[i].verified != r->rows[i].live)
			return true;
	for (i = 0; i < r->as_2011_count; i++)
		if (r->as_2011[i].error[0] &&
		    strncmp(r->as_2011[i].error, "skipped:", 8))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static struct lb_row rows[LB_MAX_ARMS * LB_MAX_DOMAINS * LB_MAX_LIVE];
	struct lb_options options = { 0 };
	struct bench_device dev;
	struct lb_results results = {
		.options = &options,
		.dev = &dev,
		.rows = rows,
		.max_map_count = bench_read_number("/proc/sys/vm/max_map_count"),
		.vma_bytes = vma_bytes(),
	};
	int ret;

	parse(&options, argc, argv);
	if (bench_open(&dev)) {
		fprintf(stderr, "live-bos: no render node of the radeon driver\n");
		return 77;
	}
	/* Only the device's properties are needed here; workers open it themselves. */
	close(dev.fd);
	if (options.verify == LB_VERIFY_PREAD && !dev.has_rw) {
		fprintf(stderr, "live-bos: --verify pread: the kernel has no PREAD\n");
		return 2;
	}

	if (options.count && !bench_counts_instructions(options.clock)) {
		fprintf(stderr, "live-bos: CPU time does not count instructions here\n");
		return 2;
	}
	results.clock_ns = bench_clock_cost(options.clock);
	results.lockstep = lockstep(&options, &dev);
	run(&results);
	if (options.as_2011)
		lb_as_2011(&results);
	lb_print(stdout, &results);
	if (options.json) {
		ret = lb_write_json(options.json, &results);
		if (ret) {
			fprintf(stderr, "live-bos: cannot write %s: %s\n",
				options.json, strerror(-ret));
			return 1;
		}
	}
	return failed(&results);
}
