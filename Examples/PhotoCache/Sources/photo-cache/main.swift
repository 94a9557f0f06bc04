// photo-cache configure TOKEN CACHE-SIZE SPACE-TO-KEEP
// photo-cache show SERVER NAME...
// photo-cache clean-up SPARED-SECONDS
// photo-cache status
//
// Shows the photos of a server, and caches them: what a program for iOS does with files that it can
// download again, with the imports of Linux. Sizes are in bytes.

import ResourceValuesDropIn
import StorageManagement

let usage = "usage: photo-cache configure|show|clean-up|status ARGUMENT..."
let arguments = Array(CommandLine.arguments.dropFirst(2))
do {
    switch CommandLine.arguments.dropFirst().first {
    case "configure":
        guard arguments.count == 3, let cacheSize = Int64(arguments[1]),
            let spaceToKeep = Int64(arguments[2])
        else { fail(usage) }
        try Settings(token: arguments[0], cacheSize: cacheSize, spaceToKeep: spaceToKeep).save()
        print("settings: \(try Settings.protection().rawValue)")
    case "show":
        guard let server = arguments.first.flatMap({ URL(string: $0) }) else { fail(usage) }
        try await show(Array(arguments.dropFirst()), from: server)
    case "clean-up":
        guard let age = arguments.first.flatMap(Int64.init) else { fail(usage) }
        let outcome = try await PhotoCache(settings: .load()).cleanUp(sparing: age)
        print("deleted: \(outcome.removedCount) of \(outcome.freedBytes) bytes")
        for (path, reason) in outcome.kept { print("kept \(path): \(reason.sentence)") }
        for failure in outcome.failures { print("failed: \(failure)") }
        if !outcome.failures.isEmpty { exit(1) }
    case "status":
        for photo in try PhotoCache(settings: .load()).contents() {
            let kind = photo.isPurgeable ? "purgeable" : "kept"
            print("\(photo.name): \(photo.size) bytes, \(kind)")
        }
    default: fail(usage)
    }
} catch {
    fail(error.localizedDescription)
}

/// Prints each photo's size and source. A photo that cannot be shown does not stop the others.
func show(_ names: [String], from server: URL) async throws {
    let cache = try PhotoCache(settings: .load())
    var failures = 0
    for name in names {
        do {
            let (data, source) = try await cache.photo(name, from: server)
            print("\(name): \(data.count) bytes, \(source.rawValue)")
        } catch {
            print("\(name): \(error.localizedDescription)")
            failures += 1
        }
    }
    if failures > 0 { exit(1) }
}

func fail(_ message: String) -> Never {
    print("photo-cache: \(message)")
    exit(1)
}
