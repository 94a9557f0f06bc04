import ResourceValuesFoundation

/// `capacity PATH`: prints the four capacities of the volume that contains an item, one on each line.
func runCapacity(_ arguments: [String]) throws {
    let values = try URL(fileURLWithPath: arguments[0]).resourceValues(forKeys: [
        .volumeTotalCapacityKey, .volumeAvailableCapacityKey,
        .volumeAvailableCapacityForImportantUsageKey,
        .volumeAvailableCapacityForOpportunisticUsageKey,
    ])
    print(values.volumeTotalCapacity ?? -1)
    print(values.volumeAvailableCapacity ?? -1)
    print(values.volumeAvailableCapacityForImportantUsage ?? -1)
    print(values.volumeAvailableCapacityForOpportunisticUsage ?? -1)
}
