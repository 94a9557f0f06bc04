import PurgePlanning

/// How short space is on a volume: `normal`, `low` or `critical`, in this order. It is what purging
/// goes by.
public typealias StoragePressure = PurgePressure
