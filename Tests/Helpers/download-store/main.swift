import ResourceValuesDropIn

// download-store DIRECTORY: saves downloads and thumbnails below the directory, trims the thumbnails
// and prints what it did. Written as it would be for iOS.

let root = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
let store = try DownloadStore(in: root)
let episode = try store.save(Data(repeating: 7, count: 100_000), as: "episode.mp3")
let copy = store.directory.appendingPathComponent("copy.mp3")
try FileManager.default.copyItem(at: episode, to: copy)

let cache = try ThumbnailCache(in: root)
for number in 1...4 {
    let name = "\(number).png"
    try cache.store(Data(repeating: 1, count: 1000), as: name)
    let age = TimeInterval(number) * 1000
    try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -age)],
        ofItemAtPath: cache.directory.appendingPathComponent(name).path)
}
let removed = try cache.trim(olderThan: 3500, to: 2000)

let values = try store.directory.resourceValues(forKeys: [
    .isExcludedFromBackupKey, .fileProtectionKey,
])
print("excluded: \(values.isExcludedFromBackup ?? false)")
print("protection: \((values.fileProtection ?? .none).rawValue)")
for url in [episode, copy] {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    switch attributes[.protectionKey] as? FileProtectionType {
    case .complete?: print("\(url.lastPathComponent): complete")
    default: print("\(url.lastPathComponent): not protected")
    }
}
print("size: \(try store.size() >= 200_000)")
print("removed: \(removed.joined(separator: " "))")
