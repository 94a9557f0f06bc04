import ResourceValues
import SystemPackage
import Testing

/// Makes a directory whose quota is used up: a btrfs subvolume with 200 empty files, `f0`
/// to `f199`, of which the first hold attributes.
package func directoryWithUsedUpQuota() throws -> FilePath {
    try require(.tool("btrfs"))
    let filesystem = try filesystem(.btrfs)
    let volume = filesystem.root.appending("volume")
    try tool("btrfs", "quota", "enable", filesystem.root)
    try tool("btrfs", "subvolume", "create", volume)
    try Tree { for index in 0..<200 { File("f\(index)") } }
        .create(in: volume)
    try tool("sync")
    try tool("btrfs", "qgroup", "limit", "32K", volume)
    let value = Array(repeating: UInt8(ascii: "x"), count: 3000)
    let isUsedUp = (0..<199).contains { index in
        let file = volume.appending("f\(index)")
        return code { try file.setExtendedAttribute(named: "user.a", to: value) } != nil
    }
    try #require(isUsedUp, "the quota was never used up")
    return volume
}
