import ResourceValuesDropIn

/// `directories [create]`: prints the user's directories, one on each line: the name, the path of the
/// property of `URL`, and the path that a search for such a directory finds, after creating it.
func printDirectories(creating isCreating: Bool) throws {
    let directories: KeyValuePairs<FileManager.SearchPathDirectory, URL> = [
        .applicationDirectory: .applicationDirectory,
        .applicationSupportDirectory: .applicationSupportDirectory,
        .cachesDirectory: .cachesDirectory, .desktopDirectory: .desktopDirectory,
        .documentDirectory: .documentsDirectory, .downloadsDirectory: .downloadsDirectory,
        .libraryDirectory: .libraryDirectory, .moviesDirectory: .moviesDirectory,
        .musicDirectory: .musicDirectory, .picturesDirectory: .picturesDirectory,
        .sharedPublicDirectory: .sharedPublicDirectory, .trashDirectory: .trashDirectory,
        .userDirectory: .userDirectory,
    ]
    for (directory, url) in directories {
        let found = FileManager.default.urls(for: directory, in: .userDomainMask).first
        if isCreating && found != nil {
            _ = try FileManager.default.url(
                for: directory, in: .userDomainMask, appropriateFor: nil, create: true)
        }
        print(directory, url.path, found?.path ?? "none")
    }
}
