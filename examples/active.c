/* How many cycles each site of a run is active: a subscriber in C.
 *
 *   cc -O2 -o active examples/active.c
 *   petal run design.futil -q --events - | ./active
 *
 * Prints a line for each site that was active: its number, its cycles, and how often it was active. Lines of events have their fields in
 * one order, and numbers of sites and cycles need no more than this to be found; names, which may hold anything, are left alone.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct site {
    unsigned long long id, cycles, times;
};

static struct site *table;
static size_t slots, used;

/* The site with this number, in a table with open addressing: the numbers are hashes already. */
static struct site *find(unsigned long long id) {
    if (2 * (used + 1) > slots) {
        struct site *old = table;
        size_t before = slots;
        slots = slots ? 2 * slots : 1024;
        table = calloc(slots, sizeof *table);
        if (!table) {
            perror("active");
            exit(1);
        }
        used = 0;
        for (size_t at = 0; at < before; at++)
            if (old[at].times) *find(old[at].id) = old[at];
        free(old);
    }
    size_t at = id & (slots - 1);
    while (table[at].times && table[at].id != id) at = (at + 1) & (slots - 1);
    if (!table[at].times) {
        table[at].id = id;
        used++;
    }
    return &table[at];
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    int version = 0, is_whole = 0;
    unsigned long long id, cycle, before, times;
    while (getline(&line, &room, stdin) > 0) {
        if (!version) {
            char *events = strstr(line, "\"events\":");
            if (!events || sscanf(events, "\"events\":%d", &version) != 1 || version != 1) {
                fputs("active: these are no events of version 1\n", stderr);
                return 1;
            }
        } else if (sscanf(line, "{\"begin\":\"%16llx\",\"cycle\":%llu", &id, &cycle) == 2) {
            struct site *site = find(id);
            site->times++;
            /* A site that is several things may begin again before it has ended. */
            site->cycles -= cycle;
        } else if (sscanf(line, "{\"end\":\"%16llx\",\"cycle\":%llu,\"before\":%llu", &id, &cycle, &before) == 3) {
            struct site *site = find(id);
            char *several = strstr(line, ",\"times\":");
            if (several && sscanf(several, ",\"times\":%llu", &times) == 1) site->times += times - 1;
            site->cycles += cycle;
        } else if (strncmp(line, "{\"cycles\":", 10) == 0) {
            is_whole = 1;
        }
    }
    free(line);
    for (size_t at = 0; at < slots; at++)
        if (table[at].times) printf("%016llx %llu %llu\n", table[at].id, table[at].cycles, table[at].times);
    free(table);
    if (!is_whole) fputs("active: the run was cut off\n", stderr);
    return !is_whole;
}
