/*
 * A disk with a volatile write cache whose power can be cut: a FUSE folder with one file, `disk`, which
 * stands for the blocks of an image file. A loop device over that file turns it into a block device.
 *
 * Writes stay in memory until the file is synced, as in the cache of a disk. A cut decides the fate of
 * each sector that was written since: it is written, dropped or torn. Afterwards every write and
 * sync fails, so that nothing after the cut can be acknowledged.
 *
 *   power-disk IMAGE FOLDER     commands on standard input, one a line, each answered with one line:
 *   lie                         syncs report success from now on, and do nothing
 *   cut SEED                    cuts the power within the next few writes and syncs, or after
 *                               three seconds without; answers with the manner and counts of sectors
 */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECTOR 512
static const char *const DISK = "/disk";

struct write {
  struct write *next;
  off_t at;
  size_t size;
  char bytes[];
};

/* Writes and syncs left before the requested cut. */
#define REQUESTS_BEFORE_CUT_MAX 16
#define CUT_SECONDS_MAX 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cutDone = PTHREAD_COND_INITIALIZER;
static int isCutDue, requestsLeft;
static struct write *first, **last = &first;
static int image, lies, isCut;
static off_t imageBytes;

static int disk_getattr(const char *path, struct stat *found, struct fuse_file_info *file) {
  (void)file;
  memset(found, 0, sizeof *found);
  if (strcmp(path, "/") == 0) {
    found->st_mode = S_IFDIR | 0700;
    found->st_nlink = 2;
    return 0;
  }
  if (strcmp(path, DISK) != 0) return -ENOENT;
  found->st_mode = S_IFREG | 0600;
  found->st_nlink = 1;
  found->st_size = imageBytes;
  return 0;
}

static int disk_open(const char *path, struct fuse_file_info *file) {
  if (strcmp(path, DISK) != 0) return -ENOENT;
  /* The kernel must not cache writes: this program decides which unsynced ones are lost. */
  file->direct_io = 1;
  return 0;
}

static int disk_read(const char *path, char *to, size_t size, off_t at, struct fuse_file_info *file) {
  (void)path, (void)file;
  pthread_mutex_lock(&lock);
  ssize_t count = pread(image, to, size, at);
  if (count < 0) count = -errno;
  off_t end = at + count;
  for (struct write *w = first; w != NULL; w = w->next) {
    off_t from = w->at > at ? w->at : at;
    off_t until = w->at + (off_t)w->size < end ? w->at + (off_t)w->size : end;
    if (from < until) memcpy(to + (from - at), w->bytes + (from - w->at), until - from);
  }
  pthread_mutex_unlock(&lock);
  return (int)count;
}

static void forgetWrites(void) {
  for (struct write *w = first, *next; w != NULL; w = next) next = w->next, free(w);
  first = NULL, last = &first;
}

/* Writes part of a write to the image. Fails the run if the image cannot be written. */
static void apply(const struct write *w, size_t from, size_t size) {
  if (pwrite(image, w->bytes + from, size, w->at + (off_t)from) == (ssize_t)size) return;
  perror("power-disk: cannot write to the image");
  _exit(1);
}

/* SplitMix64: the same seed cuts the same writes in the same way. */
static uint64_t randomState;
static uint64_t randomBelow(uint64_t bound) {
  uint64_t z = (randomState += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) % bound;
}

enum manner { SECTORS, WRITES, FIRST_ONES, NONE, ALL };
static const char *const NAMES[] = {"sectors", "writes", "first ones", "none", "all"};

static enum manner chooseManner(void) {
  uint64_t chance = randomBelow(10);
  return chance < 4 ? SECTORS : chance < 6 ? WRITES : chance < 8 ? FIRST_ONES : chance < 9 ? NONE : ALL;
}

static uint64_t sectors, kept, torn;
static enum manner manner;

/* Called with the lock held. */
static void cutNow(void) {
  isCut = 1;
  isCutDue = 0;
  uint64_t passed = 0;
  for (struct write *w = first; w != NULL; w = w->next) sectors += w->size / SECTOR;
  /* After lying syncs a mixture of sectors would break the file system, so all are dropped. */
  manner = lies ? NONE : chooseManner();
  uint64_t stop = sectors > 0 ? randomBelow(sectors) : 0;
  for (struct write *w = first; w != NULL; w = w->next) {
    int wholeKept = (int)randomBelow(2);
    for (size_t at = 0; at < w->size; at += SECTOR, passed++) {
      uint64_t chance = randomBelow(100);
      /* A torn sector has new bytes first and old bytes after them. */
      int isTorn = (manner == SECTORS && chance < 4) || (manner == FIRST_ONES && passed == stop);
      int isKept = manner == ALL || (manner == WRITES && wholeKept) ||
                   (manner == SECTORS && chance < 52) || (manner == FIRST_ONES && passed < stop);
      if (isTorn) apply(w, at, 1 + randomBelow(SECTOR - 1)), torn++;
      else if (isKept) apply(w, at, SECTOR), kept++;
    }
  }
  forgetWrites();
  pthread_cond_signal(&cutDone);
}

/* Called with the lock held during a write or sync: the cut may come before it is done. */
static void countRequest(void) {
  if (isCutDue && requestsLeft-- == 0) cutNow();
}

static void cutSoon(uint64_t seed) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += CUT_SECONDS_MAX;
  pthread_mutex_lock(&lock);
  randomState = seed;
  requestsLeft = (int)randomBelow(REQUESTS_BEFORE_CUT_MAX);
  isCutDue = 1;
  while (isCutDue && pthread_cond_timedwait(&cutDone, &lock, &until) == 0) continue;
  if (isCutDue) cutNow();
  pthread_mutex_unlock(&lock);
  printf("%s: %ju unsynced sectors, %ju kept, %ju torn\n", NAMES[manner], (uintmax_t)sectors,
         (uintmax_t)kept, (uintmax_t)torn);
}

static int disk_write(const char *path, const char *from, size_t size, off_t at, struct fuse_file_info *file) {
  (void)path, (void)file;
  if (at + (off_t)size > imageBytes) return -ENOSPC;
  struct write *w = malloc(sizeof *w + size);
  if (w == NULL) return -ENOMEM;
  w->next = NULL, w->at = at, w->size = size;
  memcpy(w->bytes, from, size);
  pthread_mutex_lock(&lock);
  if (isCut) free(w);
  else {
    *last = w, last = &w->next;
    countRequest();
  }
  int result = isCut ? -EIO : (int)size;
  pthread_mutex_unlock(&lock);
  return result;
}

static int disk_fsync(const char *path, int dataOnly, struct fuse_file_info *file) {
  (void)path, (void)dataOnly, (void)file;
  pthread_mutex_lock(&lock);
  /* A cut before a sync without unsynced writes would test nothing. */
  if (first != NULL) countRequest();
  int result = isCut ? -EIO : 0;
  if (!isCut && !lies) {
    for (struct write *w = first; w != NULL; w = w->next) apply(w, 0, w->size);
    forgetWrites();
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static void *readCommands(void *nothing) {
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    uintmax_t seed;
    if (strcmp(line, "lie\n") == 0) {
      pthread_mutex_lock(&lock);
      lies = 1;
      pthread_mutex_unlock(&lock);
      puts("lying");
    } else if (sscanf(line, "cut %ju", &seed) == 1) cutSoon(seed);
    else puts("unknown command");
    fflush(stdout);
  }
  return nothing;
}

static void *disk_init(struct fuse_conn_info *connection, struct fuse_config *settings) {
  (void)connection;
  settings->kernel_cache = 0;
  pthread_t commands;
  if (pthread_create(&commands, NULL, readCommands, NULL) != 0) exit(1);
  puts("ready");
  fflush(stdout);
  return NULL;
}

static const struct fuse_operations OPERATIONS = {
    .init = disk_init, .getattr = disk_getattr, .open = disk_open,
    .read = disk_read, .write = disk_write,     .fsync = disk_fsync,
};

int main(int count, char **arguments) {
  if (count != 3) return fprintf(stderr, "usage: power-disk IMAGE FOLDER\n"), 2;
  image = open(arguments[1], O_RDWR);
  if (image < 0) return perror(arguments[1]), 1;
  imageBytes = lseek(image, 0, SEEK_END);
  char *options[] = {arguments[0], "-f", "-s", arguments[2], NULL};
  return fuse_main(4, options, &OPERATIONS, NULL);
}
