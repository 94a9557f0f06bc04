import ResourceValuesDropIn

/// `directories`: prints the user's directories, one on each line: the name, the path of the property
/// of `URL`, and the path that Foundation's search for such a directory finds.
func printDirectories() {
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
        print(directory, url.path, found?.path ?? "none")
    }
}
