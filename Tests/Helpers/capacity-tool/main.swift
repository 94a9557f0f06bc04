// capacity-tool PATH: the four capacities of the volume that holds a path, by the URL API, one number
// a line.
import ResourceValuesFoundation

let values = try URL(fileURLWithPath: CommandLine.arguments[1]).resourceValues(forKeys: [
    .volumeTotalCapacityKey, .volumeAvailableCapacityKey,
    .volumeAvailableCapacityForImportantUsageKey,
    .volumeAvailableCapacityForOpportunisticUsageKey,
])
print(values.volumeTotalCapacity ?? -1)
print(values.volumeAvailableCapacity ?? -1)
print(values.volumeAvailableCapacityForImportantUsage ?? -1)
print(values.volumeAvailableCapacityForOpportunisticUsage ?? -1)
