# Stages of a CI run, each with a budget in minutes. A script that sources this
# defines a function for each stage and calls `stages`.
#
#   run_stages "ARGUMENTS" "NAME MINUTES"...
#
# Every stage is a process of its own with no standard input. It fails when a
# command of it fails, when it is over its budget, and when a process that it
# started is left. What a stage leaves of its budget, the later ones may use: what
# must not be exceeded is the sum. The first stage that fails ends the run. The last
# lines are the results of all test runs so far, the sum of their counts last.

# run_stages runs the stages that the first argument names, or all of them.
run_stages() {
    if [ -n "${RACKBOOT_CI_STAGE:-}" ]; then
        "$RACKBOOT_CI_STAGE"
        exit
    fi
    local wanted=$1 row name minutes failed="" ran=0 kept begun=$SECONDS granted=0 spare
    shift
    kept=$(mktemp -d)
    # shellcheck disable=SC2064 # now, while it is known
    trap "rm -rf '$kept'" EXIT
    export RACKBOOT_CI_DIR=$kept RACKBOOT_CI_RESULTS=$kept/results RACKBOOT_CI_MARK=$$.$RANDOM
    for row in "$@"; do
        read -r name minutes <<<"$row"
        if [ -n "$wanted" ] && [[ " $wanted " != *" $name "* ]]; then
            continue
        fi
        ran=$((ran + 1))
        granted=$((granted + $(seconds "$minutes")))
        spare=$((begun + granted - SECONDS))
        if ! one_stage "$name" $((spare > 0 ? spare : 1)); then # to timeout 0 is no limit
            failed=$name
            break
        fi
    done
    if [ $ran -eq 0 ]; then
        echo "no such stage: $wanted" >&2
        exit 2
    fi
    echo
    if [ -n "$failed" ]; then
        echo "FAILED: stage $failed"
        total || true
        exit 1
    fi
    total
}

seconds() { awk -v minutes="$1" 'BEGIN { print int(minutes * 60) }'; }

# one_stage NAME SECONDS
one_stage() {
    local name=$1 budget=$2 begun=$SECONDS code=0 left
    printf '\n== %s: begins %s, may take %s s\n' "$name" "$(date -u +%H:%M:%S)" "$budget"
    RACKBOOT_CI_STAGE=$name timeout --kill-after=20 "$budget" bash "$0" </dev/null || code=$?
    left=$(left_over)
    case $code in
    0) ;;
    124 | 137) echo "== $name: over its budget of $budget s" ;;
    *) echo "== $name: exit code $code" ;;
    esac
    if [ -n "$left" ]; then
        printf '== %s: left running, now killed:\n%s\n' "$name" "$left"
        code=1
    fi
    printf '== %s: %s after %s s\n' "$name" "$([ "$code" -eq 0 ] && echo passed || echo failed)" $((SECONDS - begun))
    [ "$code" -eq 0 ]
}

# left_over prints and kills the processes that carry this run's mark, after it
# gave them two seconds to end.
left_over() {
    local try file pid
    for try in 1 2 3 4; do
        [ -n "$(marked)" ] || return 0
        sleep 0.5
    done
    for file in $(marked); do
        pid=${file#/proc/}
        pid=${pid%/environ}
        printf '  %s %s\n' "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
        kill -KILL "$pid" 2>/dev/null || true
    done
}

marked() { grep -lzsx "RACKBOOT_CI_MARK=$RACKBOOT_CI_MARK" /proc/[0-9]*/environ || true; }

# gotest runs go test with its arguments; a skipped test is a failure.
gotest() {
    go test -json "$@" | testsum -add "$RACKBOOT_CI_RESULTS"
}

testsum() {
    local program=$RACKBOOT_CI_DIR/testsum
    [ -x "$program" ] || go build -o "$program" ./integration/testsum
    "$program" "$@"
}

total() { testsum -total "$RACKBOOT_CI_RESULTS"; }
