import ResourceValuesFoundation

/// `ubiquitous status|evict|download PATH`
///
/// What a program written for Apple's systems does with items whose content is elsewhere. Prints the
/// values, or the error's code and reason.
///
/// - Returns: the exit code. A call of exit(3) here would leave objects behind, which LeakSanitizer
///   reports.
func runUbiquitous(_ arguments: [String]) throws -> Int32 {
    let url = URL(fileURLWithPath: arguments[1])
    do {
        switch arguments[0] {
        case "evict": try FileManager.default.evictUbiquitousItem(at: url)
        case "download":
            try FileManager.default.startDownloadingUbiquitousItem(at: url)
            try waitForDownload(of: url)
        default: break
        }
        print(try status(of: url))
        return 0
    } catch let error as CocoaError {
        let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String
        print("error \(error.code.rawValue): \(reason ?? "")")
        return 1
    }
}

private func values(of url: URL) throws -> URLResourceValues {
    try url.resourceValues(forKeys: [
        .isUbiquitousItemKey, .ubiquitousItemDownloadingStatusKey, .ubiquitousItemIsUploadedKey,
        .ubiquitousItemIsDownloadingKey, .ubiquitousItemDownloadingErrorKey,
    ])
}

private func status(of url: URL) throws -> String {
    let values = try values(of: url)
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
private func waitForDownload(of url: URL) throws {
    for _ in 0..<600 {
        let values = try values(of: url)
        if values.ubiquitousItemDownloadingStatus == .current { return }
        if values.ubiquitousItemDownloadingError != nil { return }
        Thread.sleep(forTimeInterval: 0.05)
    }
}
