# Makes benchmark.json from the tab-separated files of measurements.

def rows($text): $text | split("\n") | map(select(. != "") | split("\t"));

def median: sort | length as $count
    | if $count == 0 then null
      elif $count % 2 == 1 then .[($count - 1) / 2]
      else (.[$count / 2 - 1] + .[$count / 2]) / 2 end;

def competitors($workload):
    rows($commands) | map(select(.[0] == $workload)
        | {id: .[1], unit: .[2], summary: .[3], command: .[4]}
        | .id as $id
        | .samples = (rows($samples)
            | map(select(.[0] == $workload and .[1] == $id) | .[2] | tonumber))
        | .value = (if .summary == "highest" then .samples | max else .samples | median end));

def value_of($competitors; $id): $competitors[] | select(.id == $id) | .value;

def targets($workload; $competitors):
    rows($targets) | map(select(.[0] == $workload)
        | {kind: .[1], subject: .[2], reference: .[3], limit: (.[4] | tonumber)}
        | value_of($competitors; .subject) as $subject
        | if .kind == "below" then
            .reference = null | .ratio = null | .reached = ($subject <= .limit)
            | .subject as $id
            | ($competitors[] | select(.id == $id) | .unit) as $unit
            | .text = (if $unit == "s" then "≤ \(.limit) s" else "≤ \(.limit / 1024) MiB" end)
          elif .kind == "faster" then
            .ratio = value_of($competitors; .reference) / $subject | .reached = (.ratio >= .limit)
            | .text = "≥ \(.limit) × faster than \(.reference)"
          else
            .ratio = $subject / value_of($competitors; .reference) | .reached = (.ratio <= .limit)
            | .text = "≤ \(.limit) × \(.reference)"
          end);

{
    machine: $machine, runs: $runs, quick: $quick, treeEntries: $tree_entries,
    workloads: [
        (rows($commands) + rows($skips)) | map(.[0]) | unique[]
        | . as $id | competitors($id) as $competitors
        | {
            id: $id,
            skipped: (rows($skips) | map(select(.[0] == $id) | .[1])),
            competitors: $competitors,
            targets: targets($id; $competitors)
        }
    ] | sort_by(.id | if startswith("W") then "0" + . else . end)
}
