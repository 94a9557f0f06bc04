/// A volume's pressure, and the space it was found by.
public struct StorageState: Sendable, Hashable {
    /// How short space is.
    public let pressure: StoragePressure
    /// What was measured.
    public let space: StorageSpace

    /// Creates a state.
    public init(pressure: StoragePressure, space: StorageSpace) {
        self.pressure = pressure
        self.space = space
    }
}
