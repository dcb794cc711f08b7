# Prints the table of replay.sh, from lines of a recording, a contender and microseconds. The exit status
# tells whether Forerun reaches its goals.

{
	if (!(($1, $2) in count)) { if (!($1 in known)) names[++rows] = $1; known[$1] = 1 }
	if ($1 == names[1]) contenders[NR] = $2
	at = ++count[$1, $2]
	# Sorted, for the median.
	for (; at > 1 && value[$1, $2, at - 1] > $3 / 1000; at--) value[$1, $2, at] = value[$1, $2, at - 1]
	value[$1, $2, at] = $3 / 1000
}

function median(name, who,    n, half) {
	n = count[name, who]
	half = int((n + 1) / 2)
	return (value[name, who, half] + value[name, who, n + 1 - half]) / 2
}

# Three standard deviations of the mean: 99.7 %.
function margin(name, who,    n, at, sum, squares, mean) {
	n = count[name, who]
	for (at = 1; at <= n; at++) sum += value[name, who, at]
	mean = sum / n
	for (at = 1; at <= n; at++) squares += (value[name, who, at] - mean) ^ 2
	return n > 1 ? 3 * sqrt(squares / (n - 1) / n) : 0
}

# The time without that of the first read and all before it.
function time(name, who) { return median(name, who) - (name == "start" ? 0 : median("start", who)) }

function cell(name, who) { return sprintf(" %.0f ± %.0f |", time(name, who), margin(name, who)) }

# Compares Forerun with the fastest of librbd.
function verdict(name,    at, best, least, own, is_slower) {
	for (at = 1; at <= 4; at++) if (!best || time(name, librbd[at]) < time(name, best)) best = librbd[at]
	own = time(name, "adaptive")
	is_slower = own - time(name, best) > sqrt(margin(name, best) ^ 2 + margin(name, "adaptive") ^ 2)
	least = name == "two-streams" || name == "backward" ? 10 : 1
	is_missed = is_slower || (least > 1 && time(name, best) < least * own)
	if (is_missed) missed = 1
	return sprintf(" %.2f | %s: %s |", time(name, best) / own, least > 1 ? "10 ×" : "not slower", is_missed ? "FAIL" : "pass")
}

END {
	split("off stock readahead throughout", librbd)
	print "| reads | librbd, no cache | librbd as installed | librbd, readahead | librbd, throughout | forerun, none | forerun | × best of librbd | goal |"
	print "|---|---:|---:|---:|---:|---:|---:|---:|---|"
	for (row = 1; row <= rows; row++) {
		name = names[row]
		line = "| " name " |"
		for (at = 1; at <= 4; at++) line = line cell(name, librbd[at])
		line = line cell(name, "none") cell(name, "adaptive")
		print line (name == "start" ? " | |" : verdict(name))
	}
	exit missed
}
