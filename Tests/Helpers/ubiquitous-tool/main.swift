// ubiquitous-tool status|evict|download|wait PATH
//
// What a program written for Apple's systems does with items whose content is elsewhere. Prints the
// values, or the error's code and reason.

import ResourceValuesFoundation

private let url = URL(fileURLWithPath: CommandLine.arguments[2])

private func values() throws -> URLResourceValues {
    try url.resourceValues(forKeys: [
        .isUbiquitousItemKey, .ubiquitousItemDownloadingStatusKey, .ubiquitousItemIsUploadedKey,
        .ubiquitousItemIsDownloadingKey, .ubiquitousItemDownloadingErrorKey,
    ])
}

private func status() throws -> String {
    let values = try values()
    let status = values.ubiquitousItemDownloadingStatus.map {
        $0 == .current ? "current" : $0 == .notDownloaded ? "notDownloaded" : $0.rawValue
    }
    let reason = values.ubiquitousItemDownloadingError?.localizedFailureReason
    return [
        "\(values.isUbiquitousItem == true)", status ?? "nil",
        values.ubiquitousItemIsUploaded.map { "\($0)" } ?? "nil",
        values.ubiquitousItemIsDownloading.map { "\($0)" } ?? "nil", reason ?? "nil",
        "\(FileManager.default.isUbiquitousItem(at: url))",
    ].joined(separator: " ")
}

/// Waits for a download as programs do: until the content is here, or an error is.
private func wait() throws {
    for _ in 0..<600 {
        let values = try values()
        if values.ubiquitousItemDownloadingStatus == .current { return }
        if values.ubiquitousItemDownloadingError != nil { return }
        Thread.sleep(forTimeInterval: 0.05)
    }
}

do {
    switch CommandLine.arguments[1] {
    case "evict": try FileManager.default.evictUbiquitousItem(at: url)
    case "download":
        try FileManager.default.startDownloadingUbiquitousItem(at: url)
        try wait()
    default: break
    }
    print(try status())
} catch let error as CocoaError {
    let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String
    print("error \(error.code.rawValue): \(reason ?? "")")
    exit(1)
}
