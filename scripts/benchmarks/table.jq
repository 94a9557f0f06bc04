# Prints the Markdown table from benchmark.json.

# Three significant digits.
def short: if . >= 100 then . * 1 | round elif . >= 10 then (. * 10 | round) / 10
    else (. * 100 | round) / 100 end;

def amount($unit):
    if . == null then "–"
    elif $unit == "KiB" then "\(. / 1024 | short) MiB"
    elif $unit == "ns" then "\(short) ns"
    elif . < 0.1 then "\(. * 1000 | short) ms"
    else "\(short) s" end;

def row($cells): "| " + ($cells | join(" | ")) + " |";

# A ratio is in the row of the resval command, or, when the target is to be faster than another program,
# in the row of that program.
def target_of($workload; $id):
    $workload.targets[]
    | select(if .kind == "faster" then .reference == $id else .subject == $id end);

def cells($workload):
    . as $competitor
    | [$workload.id, "`\(.command)`",
       (.value | amount($competitor.unit))
           + (if .summary == "highest" then " (highest)" else "" end)]
    + (first(target_of($workload; .id)) // null
       | if . == null then ["–", "–", "–"]
         else [
             (if .ratio == null then "–"
              elif .kind == "faster" then "\(.subject) is \(.ratio | short) × faster"
              else "\(.ratio | short) × \(.reference)" end),
             .text, (if .reached then "yes" else "**no**" end)]
         end);

"Measured \(.machine.date[0:10]) on \(.machine.filesystem.type) "
    + "(\(.machine.filesystem.source)), \(.machine.kernel), "
    + "\(.machine.processors) × \(.machine.processor); medians of \(.runs)"
    + (if .runs < 5 then " (too few to count)" else "" end)
    + (if .treeEntries then "; W1 and W2: \(.treeEntries) entries" else "" end)
    + (if .quick then "; small trees: the figures mean nothing" else "" end) + ".",
"",
row(["workload", "command", "median", "ratio", "to reach", "reached"]),
row(["---", "---", "--:", "--:", "---", "---"]),
(.workloads[] | . as $workload
    | (.competitors[] | row(cells($workload))),
      (.skipped[] | row([$workload.id, "skipped: \(.)", "–", "–", "–", "–"])))
