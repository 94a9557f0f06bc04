import ResourceValuesDropIn

/// `local-document remove|fetch PATH`
///
/// Frees the space of a document that is stored elsewhere, or starts to bring its content back, each
/// as Apple's storage guide does: by asking for one key first.
func runLocalDocument(_ arguments: [String]) throws {
    let url = URL(fileURLWithPath: arguments[1])
    if arguments[0] == "remove" {
        try removeLocalDocument(at: url)
    } else {
        try fetchRemoteDocument(for: url)
    }
}

private func removeLocalDocument(at url: URL) throws {
    let values = try url.resourceValues(forKeys: [.ubiquitousItemIsUploadedKey])
    guard values.ubiquitousItemIsUploaded == true else { return print("kept") }
    try FileManager.default.evictUbiquitousItem(at: url)
    print("evicted")
}

private func fetchRemoteDocument(for url: URL) throws {
    let values = try url.resourceValues(forKeys: [.ubiquitousItemIsUploadedKey])
    guard values.ubiquitousItemIsUploaded != true else { return print("present") }
    try FileManager.default.startDownloadingUbiquitousItem(at: url)
    let keys: [URLResourceKey] = [.ubiquitousItemDownloadingStatusKey]
    for _ in 0..<600 {
        let status = try url.resourceValues(forKeys: keys).ubiquitousItemDownloadingStatus
        if status == .current { return print("fetched") }
        Thread.sleep(forTimeInterval: 0.05)
    }
    print("missing")
}
