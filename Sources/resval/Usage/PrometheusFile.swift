import CommandSupport
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage
import UsageReporting

/// A file for the textfile collector of Prometheus' node exporter.
struct PrometheusFile {
    private let path: PathArgument

    init(at path: PathArgument) { self.path = path }

    /// Writes the file at once; readers see the old one or the new one. Other users can read it,
    /// since the collector runs as another user.
    func write(_ report: UsageReport) throws(FileError) {
        let text = Array(metrics(of: report).utf8)
        if path.isDash { return StandardOutput.shared.write(text) }
        var file = try OutputFile(at: path.path, permissions: 0o644)
        try file.write(text)
        try file.finish()
    }

    private func metrics(of report: UsageReport) -> String {
        var text = ""
        func add(_ name: String, _ help: String, _ samples: [(labels: String, value: Int64)]) {
            text += "# HELP resval_usage_\(name) \(help)\n# TYPE resval_usage_\(name) gauge\n"
            for sample in samples {
                text += "resval_usage_\(name)\(sample.labels) \(sample.value)\n"
            }
        }
        let roots = report.roots
        func sample(_ value: (UsageDirectory) -> Int64) -> [(String, Int64)] {
            roots.map { ("{root=\"\(label($0.path.bytes))\"}", value($0)) }
        }
        add("allocated_bytes", "Size on disk.", sample(\.allocated))
        add("apparent_bytes", "Sizes of regular files.", sample(\.apparent))
        add("freed_bytes", "What deleting the root frees.", sample(\.freed))
        add("excluded_bytes", "What backups exclude.", sample(\.excluded))
        add("purgeable_bytes", "What can be deleted.", sample { $0.allocated(.purgeable) })
        add("files", "Number of regular files.", sample(\.fileCount))
        add(
            "fate_bytes", "Size on disk by what happens to it.",
            UsageFate.allCases.map { fate in
                ("{fate=\"\(fate.rawValue)\"}", report.total.allocated(fate))
            })
        add(
            "problems", "Number of items that could not be read.",
            [("", Int64(report.problems.count))])
        add("measured_timestamp_seconds", "When this was measured.", [("", FileTime.now.seconds)])
        return text
    }

    /// Escapes a path for a label, which is UTF-8: other names as messages show them.
    private func label(_ path: [UInt8]) -> String {
        NameEscaping.text(path).replacing(scalar: "\\", with: #"\\"#)
            .replacing(scalar: "\"", with: #"\""#)
    }
}
