/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Empty: cffi knows the types of <stddef.h>. */
