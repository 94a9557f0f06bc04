import ResourceValuesFoundation

/// `volume-keys library|foundation PATH ROUNDS [KEY]`
///
/// Measures what a program pays for facts about a file's volume, through this package or through
/// Foundation: reads each key of PATH's volume alone, or one key, ROUNDS times.
///
/// Prints one line for each key: its name, the nanoseconds of the fastest call, and the answer.
func runVolumeKeys(_ arguments: [String]) throws {
    guard (3...4).contains(arguments.count), ["library", "foundation"].contains(arguments[0]),
        let rounds = Int(arguments[2]), rounds > 0
    else {
        print("usage: volume-keys library|foundation PATH ROUNDS [KEY]")
        throw CocoaError(.keyValueValidation)
    }
    let ask = arguments[0] == "library" ? questionForLibrary : questionForFoundation
    let url = URL(fileURLWithPath: arguments[1])
    for name in arguments.count == 4 ? [arguments[3]] : volumeKeys {
        let question = ask(url, "NSURL\(name)Key")
        let answer = try question.answer()
        var fastest = Duration.seconds(3600)
        for _ in 0..<rounds {
            fastest = min(fastest, try ContinuousClock().measure(question.call))
        }
        print(name, fastest / .nanoseconds(1), answer.map { "\($0 as AnyObject)" } ?? "nil")
    }
}

/// A call, and what it answers.
private typealias Question = (call: () throws -> Void, answer: () throws -> Any?)

private func questionForLibrary(_ url: URL, _ name: String) -> Question {
    let key = URLResourceKey(rawValue: name)
    let keys: Set = [key]
    return (
        { _ = try url.resourceValues(forKeys: keys) },
        { try url.resourceValues(forKeys: keys).allValues[key] }
    )
}

private func questionForFoundation(_ url: URL, _ name: String) -> Question {
    let key = Foundation.URLResourceKey(rawValue: name)
    let keys: Set = [key]
    func values() throws -> Foundation.URLResourceValues { try url.resourceValues(forKeys: keys) }
    return ({ _ = try values() }, { try values().allValues[key] })
}

/// The keys about volumes that both have.
private let volumeKeys = [
    "VolumeAvailableCapacity", "VolumeCreationDate", "VolumeIdentifier", "VolumeIsAutomounted",
    "VolumeIsBrowsable", "VolumeIsEjectable", "VolumeIsEncrypted", "VolumeIsInternal",
    "VolumeIsJournaling", "VolumeIsLocal", "VolumeIsReadOnly", "VolumeIsRemovable",
    "VolumeIsRootFileSystem", "VolumeLocalizedFormatDescription", "VolumeLocalizedName",
    "VolumeMaximumFileSize", "VolumeName", "VolumeResourceCount",
    "VolumeSupportsAdvisoryFileLocking", "VolumeSupportsCasePreservedNames",
    "VolumeSupportsCaseSensitiveNames", "VolumeSupportsCompression",
    "VolumeSupportsExclusiveRenaming", "VolumeSupportsExtendedSecurity",
    "VolumeSupportsFileCloning", "VolumeSupportsHardLinks", "VolumeSupportsJournaling",
    "VolumeSupportsPersistentIDs", "VolumeSupportsRenaming", "VolumeSupportsRootDirectoryDates",
    "VolumeSupportsSparseFiles", "VolumeSupportsSwapRenaming", "VolumeSupportsSymbolicLinks",
    "VolumeSupportsVolumeSizes", "VolumeSupportsZeroRuns", "VolumeTotalCapacity", "VolumeURL",
    "VolumeURLForRemounting", "VolumeUUIDString",
]
