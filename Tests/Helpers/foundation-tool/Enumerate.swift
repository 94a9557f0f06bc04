import ResourceValuesFoundation

/// `enumerate library|foundation DIRECTORY [keys]`
///
/// Enumerates all items below DIRECTORY, through this package or through Foundation, and with `keys`
/// reads three values of each.
///
/// Prints how many items there are and, with `keys`, how many of them are directories, their sizes
/// together, and the seconds of their times together.
func runEnumerate(_ arguments: [String]) throws {
    guard arguments.count >= 2, ["library", "foundation"].contains(arguments[0]) else {
        print("usage: enumerate library|foundation DIRECTORY [keys]")
        throw CocoaError(.keyValueValidation)
    }
    let url = URL(fileURLWithPath: arguments[1], isDirectory: true)
    let readsKeys = arguments.count == 3
    var tally = Tally()
    if arguments[0] == "library" {
        try enumerateLibrary(url, readsKeys, &tally)
    } else {
        try enumerateFoundation(url, readsKeys, &tally)
    }
    print(tally.items, terminator: readsKeys ? " " : "\n")
    if readsKeys { print(tally.directories, tally.bytes, tally.seconds) }
}

private struct Tally {
    var items = 0
    var directories = 0
    var bytes = 0
    var seconds = 0

    mutating func add(isDirectory: Bool?, size: Int?, time: Date?) {
        if isDirectory == true { directories += 1 }
        bytes += size ?? 0
        seconds += Int(time?.timeIntervalSince1970.rounded(.down) ?? 0)
    }
}

private func enumerateLibrary(_ url: URL, _ readsKeys: Bool, _ tally: inout Tally) throws {
    let keys: [URLResourceKey] = [.isDirectoryKey, .fileSizeKey, .contentModificationDateKey]
    let items = FileManager.default.enumerator(at: url, includingPropertiesForKeys: keys)
    while let item = items?.nextObject() as? URL {
        tally.items += 1
        guard readsKeys else { continue }
        let values = try item.resourceValues(forKeys: keys)
        tally.add(
            isDirectory: values.isDirectory, size: values.fileSize,
            time: values.contentModificationDate)
    }
}

private func enumerateFoundation(_ url: URL, _ readsKeys: Bool, _ tally: inout Tally) throws {
    let keys: Set<Foundation.URLResourceKey> = [
        .isDirectoryKey, .fileSizeKey, .contentModificationDateKey,
    ]
    let asked: [Foundation.URLResourceKey]? = readsKeys ? Array(keys) : nil
    let items = FileManager.default.enumerator(
        at: url, includingPropertiesForKeys: asked, options: [], errorHandler: nil)
    while let item = items?.nextObject() as? URL {
        tally.items += 1
        guard readsKeys else { continue }
        let values: Foundation.URLResourceValues = try item.resourceValues(forKeys: keys)
        // Foundation answers a size for directories, too.
        tally.add(
            isDirectory: values.isDirectory,
            size: values.isDirectory == true ? nil : values.fileSize,
            time: values.contentModificationDate)
    }
}
