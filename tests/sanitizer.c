/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sanitizers of a development build do unless ASAN_OPTIONS says otherwise.
 *
 * intercept_tls_get_addr=0: up to GCC 13 the runtime takes a block of dynamic TLS that happens to
 * lie at a certain offset in its page for one with the header of glibc before 2.25, reads an address
 * out of it and, in one of some thousand processes, LeakSanitizer dies of that at the exit ("Tracer
 * caught signal 11"). Nothing of ours is kept only in a library's TLS.
 */
const char *__asan_default_options(void);

/* A test may have options of its own. */
__attribute__((weak)) const char *__asan_default_options(void)
{
	return "intercept_tls_get_addr=0";
}
