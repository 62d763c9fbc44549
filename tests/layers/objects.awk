# SPDX-License-Identifier: GPL-2.0-or-later
# What the linker sees of src/: which file uses a symbol that which other file defines.
#   awk -v least=USES -f objects.awk ROWS CYCLES NM [HEADER...]
# Fails on anything that is not allowed, or when fewer uses than USES were seen.
# ROWS: "room may-use..." a line, for rooms and for folders of a room ("placement/model").
# CYCLES: the cycles of files that are intended, "# why" lines and one cycle a line.
# NM: nm -A -P -g of all objects, whose names end in room/file.c.o.
# HEADER: private headers below src/; what they declare has its code in their own room.

function wrong(text)
{
	print text
	bad++
}

# The last of the parts of a path that has a row: "placement/search" of placement/search/a.c.
function room_of(file,   n, part, room, i, at)
{
	n = split(file, part, "/")
	for (i = 1; i < n; i++) {
		at = i == 1 ? part[1] : at "/" part[i]
		if (at in row)
			room = at
	}
	return room
}

function outer(room)
{
	sub(/\/.*/, "", room)
	return room
}

function allowed(from, to)
{
	if (from == to || from == "") # src/open.c
		return 1
	if (outer(from) == outer(to)) # what is beside the folders of a room may use all of them
		return from == outer(from) || row[from] ~ (" " to " ")
	to = outer(to)
	return to == "base" || (to == "types" && from != "base") || row[outer(from)] ~ (" " to " ")
}

# Tarjan's strongly connected components of a graph whose edges are next_of[from] = " to to".
function visit(v,   n, i, w, list, parts, count, text)
{
	number[v] = low[v] = ++visited
	stack[++depth] = v
	on_stack[v] = 1
	n = split(next_of[v], list, " ")
	for (i = 1; i <= n; i++) {
		w = list[i]
		if (!(w in number)) {
			visit(w)
			if (low[w] < low[v])
				low[v] = low[w]
		} else if (on_stack[w] && number[w] < low[v]) {
			low[v] = number[w]
		}
	}
	if (low[v] != number[v])
		return
	do {
		w = stack[depth--]
		on_stack[w] = 0
		parts[++count] = w
	} while (w != v)
	if (count > 1)
		cycles[++cycle_count] = sorted(parts, count)
}

function sorted(list, n,   i, k, t, text)
{
	for (i = 2; i <= n; i++) {
		t = list[i]
		for (k = i - 1; k > 0 && list[k] > t; k--)
			list[k + 1] = list[k]
		list[k + 1] = t
	}
	text = list[1]
	for (i = 2; i <= n; i++)
		text = text " " list[i]
	return text
}

function find_cycles(   v)
{
	cycle_count = visited = depth = 0
	split("", number)
	split("", low)
	split("", on_stack)
	for (v in next_of)
		if (!(v in number))
			visit(v)
}

# An edge, and the first symbol that makes it one.
function add_edge(from, to, text)
{
	if (from == to || (from, to) in example)
		return
	example[from, to] = text
	next_of[from] = next_of[from] " " to
}

function print_edges(cycle,   n, words, a, b)
{
	n = split(cycle, words, " ")
	for (a = 1; a <= n; a++)
		for (b = 1; b <= n; b++)
			if ((words[a], words[b]) in example)
				print "  " example[words[a], words[b]]
}

FILENAME == ARGV[1] {
	row[$1] = " "
	for (i = 2; i <= NF; i++)
		row[$1] = row[$1] $i " "
	next
}

FILENAME == ARGV[2] {
	if (!/^#/ && NF) {
		n = split($0, words, " ")
		intended[sorted(words, n)] = 1
	}
	next
}

FILENAME ~ /\.h$/ {
	if (/^(static|typedef)/ || (!/^extern /  && !/^[a-z].*[ *][a-z0-9_]+\(/ && !in_data))
		next
	header = FILENAME
	sub(/^.*src\//, "", header)
	text = $0
	if (in_data || (/^extern / && !/\(/)) { # names, maybe of several lines
		in_data = text !~ /;/
		gsub(/\[[^]]*\]|__attribute__.*|;.*/, "", text)
		n = split(text, words, ",")
	} else {
		sub(/\(.*/, "", text)
		words[n = 1] = text
	}
	for (i = 1; i <= n; i++) {
		sub(/[ \t]+$/, "", words[i])
		sub(/.*[ \t*]/, "", words[i])
		if (words[i] == "")
			continue
		declared[++declarations] = words[i]
		declared_in[declarations] = header
	}
	next
}

{
	file = $1
	sub(/:$/, "", file)
	sub(/.*\.dir\//, "", file)
	sub(/\.o$/, "", file)
	if ($3 == "U" || $3 == "w" || $3 == "v") {
		user[++uses] = file
		used[uses] = $2
	} else {
		definer[$2] = file
	}
}

END {
	for (i = 1; i <= uses; i++) {
		from = user[i]
		if (!(used[i] in definer))
			continue
		to = definer[used[i]]
		seen++
		if (!allowed(room_of(from), room_of(to)))
			wrong("src/" from ": uses " used[i] " of src/" to ", and " room_of(from) \
				"/ may not use " room_of(to) "/")
		text = "src/" from " uses " used[i] " of src/" to
		if (from ~ /\// && to ~ /\//)
			add_edge(outer(room_of(from)), outer(room_of(to)), text)
	}
	find_cycles()
	for (i = 1; i <= cycle_count; i++) {
		wrong("rooms in a cycle: " cycles[i])
		print_edges(cycles[i])
	}
	split("", next_of)
	split("", example)
	for (i = 1; i <= uses; i++)
		if (used[i] in definer)
			add_edge(user[i], definer[used[i]],
				"src/" user[i] " uses " used[i] " of src/" definer[used[i]])
	find_cycles()
	for (i = 1; i <= cycle_count; i++) {
		if (!(cycles[i] in intended)) {
			wrong("files in a cycle that tests/layers/cycles does not list: " cycles[i])
			print_edges(cycles[i])
		}
		delete intended[cycles[i]]
	}
	for (v in intended)
		wrong("tests/layers/cycles: there is no such cycle: " v)
	for (i = 1; i <= declarations; i++) {
		to = declared[i] in definer ? definer[declared[i]] : declared_in[i]
		if (outer(room_of(to)) != outer(room_of(declared_in[i])))
			wrong("src/" declared_in[i] ": declares " declared[i] ", whose code is in src/" to)
	}
	print seen + 0 " uses of symbols, " bad + 0 " against the table"
	exit bad || seen < least
}
