import ArgumentParser
import CommandSupport
import EffectiveValues
import ResourceValues
import SystemPackage
import UsageReporting

/// The options for the metric of one program.
struct MetricOptions: ParsableArguments {
    @Flag(
        name: .customLong("metric"),
        help: "Print lines KEY=VALUE under the names of Apple's disk space metric.")
    var isAsked = false

    @Option(
        help: ArgumentHelp(
            "With --metric: a directory that the program is installed in.", valueName: "dir"))
    var installation: [PathArgument] = []

    func validate() throws {
        if !installation.isEmpty, !isAsked {
            throw ValidationError("--installation needs --metric")
        }
    }

    /// The paths to measure besides the ROOTs.
    var paths: [FilePath] { installation.map(\.path) }

    func write(_ report: UsageReport, at roots: [PathArgument], asJSON isJSON: Bool) throws {
        let installed = try paths.map { try realPath(of: $0) }
        // The volume is that of the first ROOT.
        let capacity = try roots.first.flatMap { try $0.path.volumeCapacity()?.total }
        let metric = DiskSpaceMetric(
            report,
            installation: installed.filter { path in
                !installed.contains { $0 != path && path.isHeld(by: $0) }
            }, capacity: capacity)
        let fields: [(String, Int64?)] = [
            ("totalBinaryFileSize", metric.totalBinaryFileSize),
            ("totalBinaryFileCount", metric.totalBinaryFileCount),
            ("totalDataFileSize", metric.totalDataFileSize),
            ("totalDataFileCount", metric.totalDataFileCount),
            ("totalCacheFolderSize", metric.totalCacheFolderSize),
            ("totalCloneSize", metric.totalCloneSize),
            ("totalDiskSpaceUsedSize", metric.totalDiskSpaceUsedSize),
            ("totalDiskSpaceCapacity", metric.totalDiskSpaceCapacity),
        ]
        var buffer = OutputBuffer()
        if isJSON {
            var line = JSONLine.output()
            line.add("type", "metric")
            for (name, value) in fields { line.add(name, value) }
            line.end(in: &buffer)
        } else {
            for (name, value) in fields {
                if let value { buffer.append(text: "\(name)=\(value)\n") }
            }
        }
        buffer.flush()
    }
}
