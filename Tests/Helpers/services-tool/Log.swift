import StorageServicesDropIn

/// A file of lines. The first is the date before which no task may begin.
struct Log: Sendable {
    let url: URL

    init(_ path: String) { url = URL(fileURLWithPath: path) }

    func write(earliest date: Date) {
        try? Data("\(date.timeIntervalSince1970)\n".utf8).write(to: url)
    }

    func earliestDate() -> Date {
        let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        let seconds = text.split(separator: "\n").first.flatMap { Double($0) }
        return seconds.map { Date(timeIntervalSince1970: $0) } ?? .distantFuture
    }

    func append(_ line: String) {
        guard let file = try? FileHandle(forWritingTo: url) else { return }
        file.seekToEndOfFile()
        file.write(Data("\(line)\n".utf8))
    }
}
