import CommandSupport
import PurgePlanning
import StorageManagement
import SystemCalls
import SystemPackage
import TextFormats

/// What `status` reports about one volume.
struct VolumeState {
    let path: FilePath
    let filesystem: String?
    let pressure: StoragePressure
    let space: StorageAmount?
    /// The units that may be deleted; nil where nothing is ever deleted.
    var totals: PurgeTotals?
    /// Why nothing is ever deleted; nil where units may be deleted.
    var unavailable: String?

    /// Prints the state.
    func write(isJSON: Bool) {
        var buffer = OutputBuffer()
        isJSON ? writeJSON(&buffer) : writeLines(&buffer)
        buffer.flush()
    }

    private func writeLines(_ buffer: inout OutputBuffer) {
        buffer.append(path: path)
        buffer.append(text: " (\(filesystem ?? "unknown filesystem")): \(pressure.name)")
        if let space {
            buffer.append(
                text: ", \(sizeText(space.available)) of \(sizeText(space.total)) available")
        }
        buffer.append("\n")
        if let unavailable { buffer.append(text: "  \(unavailable)\n") }
        guard let totals else { return }
        for purgeClass in PurgeClass.allCases {
            let count = totals.count(of: purgeClass)
            buffer.append(
                text: "  \(purgeClass.name): \(counted(count, "unit")), "
                    + "\(sizeText(totals.bytes(of: purgeClass)))\n")
        }
    }

    private func writeJSON(_ buffer: inout OutputBuffer) {
        var line = JSONLine()
        line.add(path: path.bytes)
        line.add("filesystem", filesystem)
        line.add("pressure", pressure.name)
        line.add("totalBytes", space?.total)
        line.add("availableBytes", space?.available)
        line.add("purgeableBytes", totals?.bytes)
        line.add("classes", objects: totals == nil ? [] : PurgeClass.allCases) { kind, line in
            line.add("class", kind.name)
            line.add("units", totals?.count(of: kind))
            line.add("bytes", totals?.bytes(of: kind))
        }
        line.add("unavailable", unavailable)
        line.end(in: &buffer)
    }
}
