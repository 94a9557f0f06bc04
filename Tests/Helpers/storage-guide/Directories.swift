// swift-format-ignore-file: NeverForceUnwrap
// The guide is written so.

import ResourceValuesDropIn

struct Directories {
    let pdfData = Data("PDF".utf8)
    let imageID = 3

    func run() throws {
        let documentsURL = FileManager.default.urls(
            for: .documentDirectory, in: .userDomainMask
        ).first!
        let appSupportURL = FileManager.default.urls(
            for: .applicationSupportDirectory, in: .userDomainMask
        ).first!
        try FileManager.default.createDirectory(
            at: appSupportURL, withIntermediateDirectories: true
        )
        let cachesURL = FileManager.default.urls(
            for: .cachesDirectory, in: .userDomainMask
        ).first!
        let tmpURL = FileManager.default.temporaryDirectory
        let exportURL = documentsURL.appendingPathComponent("Report.pdf")
        try pdfData.write(to: exportURL)
        let dbURL = appSupportURL.appendingPathComponent("AppData.sqlite")
        let thumbURL = cachesURL.appendingPathComponent("thumbnails/\(imageID).jpg")
        let uploadURL = tmpURL.appendingPathComponent(UUID().uuidString + ".tmp")

        // What follows is not the guide's.
        for url in [exportURL, dbURL, thumbURL, uploadURL.deletingLastPathComponent()] {
            print(url.path)
        }
    }
}
