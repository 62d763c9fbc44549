/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sanitizers of a development build do unless ASAN_OPTIONS says otherwise.
 *
 * intercept_tls_get_addr=0: up to GCC 13 the runtime takes a block of dynamic TLS that happens to
 * lie at a certain offset in its page for one with the header of glibc before 2.25, reads an address
 * out of it and, in one of some thousand processes, LeakSanitizer dies of that at the exit ("Tracer
 * caught signal 11"). Nothing of ours is kept only in a library's TLS.
 *
 * allocator_may_return_null=1: an allocation that is too large returns NULL, as without sanitizers.
 *
 * The function is not weak: where the runtime is linked in, its own weak one comes first.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "intercept_tls_get_addr=0:allocator_may_return_null=1";
}
