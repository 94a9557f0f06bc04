import ResourceValuesDropIn
import SystemCalls
import SystemPackage

extension FilePath {
    /// The file's URL.
    var url: URL { URL(fileURLWithPath: string) }
}

/// The code of the Cocoa error that `body` throws; nil when it throws none.
func cocoaCode(_ body: () throws -> Void) -> CocoaError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CocoaError)?.code
    }
}

/// How many entries a directory has, hidden ones among them.
func entryCount(_ directory: FilePath) throws -> Int {
    var count = 0
    try forEachName(in: directory) { name in
        // What mkfs makes.
        if name != Array("lost+found".utf8) { count += 1 }
        return true
    }
    return count
}
