# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DFROM=FILE -DTO=HEADER -DNAME=NAME -P embed.cmake: the file as a C array that ends with a NUL.
file(READ ${FROM} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${TO} "static const char ${NAME}[] = {\n${bytes}0};\n")
