// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * liar PORT MODE [UPSTREAM]: answers HTTP on loopback, wrongly. With an upstream port it
 * passes requests on to the etcd there, and spoils every third answer: what was asked for
 * is done then, and nobody hears of it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROOM (1024 * 1024)

static const char *mode;
static const char garbage_txn[] =
	"{\"header\":{\"revision\":\"5\"},\"succeeded\":true,\"responses\":[{\"response_range\":"
	"{\"kvs\":[{\"key\":7,\"value\":[],\"mod_revision\":\"x\"}],\"count\":\"-\"}}]}";

static int connect_to(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		exit(1);
	return fd;
}

/* A whole message: the header, and as much body as it announces (or all, chunked). */
static size_t read_message(int fd, char *buf)
{
	size_t len = 0, want = 0;

	while (len < ROOM - 1) {
		ssize_t n = read(fd, buf + len, ROOM - 1 - len);
		char *body, *length;

		if (n <= 0)
			return 0;
		len += (size_t)n;
		buf[len] = '\0';
		body = strstr(buf, "\r\n\r\n");
		if (!body)
			continue;
		length = strcasestr(buf, "\r\nContent-Length: ");
		if (length && length < body)
			want = (size_t)(body + 4 - buf) + strtoul(length + 18, NULL, 10);
		if (want ? len >= want : strstr(body, "\r\n0\r\n") != NULL)
			return len;
	}
	return 0;
}

static void say(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n <= 0)
			_exit(0);
		text += n;
		len -= (size_t)n;
	}
}

static void answer(int fd, const char *status, const char *body)
{
	char head[256];

	snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
		"Location: http://127.0.0.1:1/\r\nContent-Length: %zu\r\n\r\n", status, strlen(body));
	say(fd, head, strlen(head));
	say(fd, body, strlen(body));
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void huge(int fd)
{
	static char block[65536];

	memset(block, 'x', sizeof(block));
	say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 4000000000\r\n\r\n", 47);
	for (;;)
		say(fd, block, sizeof(block));
}

static void drip(int fd)
{
	say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", 41);
	for (;;) {
		say(fd, " ", 1);
		pause_ms(50);
	}
}

/* Says something wrong; false: the connection ends here. */
static bool lie(int fd)
{
	if (!strcmp(mode, "garbage"))
		answer(fd, "200 OK", "{\"header\": nonsense \001\377");
	else if (!strcmp(mode, "types"))
		answer(fd, "200 OK", garbage_txn);
	else if (!strcmp(mode, "missing"))
		answer(fd, "200 OK", "{}");
	else if (!strcmp(mode, "empty"))
		answer(fd, "200 OK", "");
	else if (!strcmp(mode, "500"))
		answer(fd, "500 Internal Server Error", "<html>oops</html>");
	else if (!strcmp(mode, "redirect"))
		answer(fd, "302 Found", "");
	else if (!strcmp(mode, "half"))
		say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"header\"", 49);
	else if (!strcmp(mode, "huge"))
		huge(fd);
	else if (!strcmp(mode, "drip"))
		drip(fd);
	else if (!strcmp(mode, "late"))
		pause_ms(60000);
	return strcmp(mode, "half") && strcmp(mode, "close") && strcmp(mode, "late");
}

/* Passes on; the answer that is spoilt has been given by etcd all the same. */
static bool relay(int fd, int up, const char *request, size_t len, unsigned n)
{
	static char buf[ROOM];
	size_t got;

	say(up, request, len);
	got = read_message(up, buf);
	if (!got)
		return false;
	if (n % 3 == 2)
		return lie(fd);
	say(fd, buf, got);
	return true;
}

static void serve(int fd, int upstream, unsigned *count)
{
	static char request[ROOM];
	int up = upstream ? connect_to(upstream) : -1;
	size_t len;

	while ((len = read_message(fd, request))) {
		if (!(upstream ? relay(fd, up, request, len, (*count)++) : lie(fd)))
			break;
	}
	close(fd);
	if (up >= 0)
		close(up);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
	unsigned count = 0;

	if (argc < 3)
		return 2;
	mode = argv[2];
	at.sin_port = htons((uint16_t)atoi(argv[1]));
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 64) < 0)
		return 1;
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (client < 0)
			continue;
		/* With an upstream the count goes on from one connection to the next. */
		if (argc > 3) {
			serve(client, atoi(argv[3]), &count);
		} else if (fork() == 0) {
			serve(client, 0, &count);
			_exit(0);
		} else {
			close(client);
		}
	}
}
