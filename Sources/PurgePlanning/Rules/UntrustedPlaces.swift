/// Directories that other programs fill, together with marks.
enum UntrustedPlaces {
    private static let names: Set<[UInt8]> = Set(
        [
            "containers", "docker", "flatpak", "lxc", "lxd", "machines", "Trash", ".Trash",
            "podman", "containerd",
        ].map { Array($0.utf8) })

    /// Whether marks in a directory of this name are not trusted.
    static func contains(_ name: some Collection<UInt8>) -> Bool {
        names.contains(Array(name)) || name.starts(with: ".Trash-".utf8)
    }
}
