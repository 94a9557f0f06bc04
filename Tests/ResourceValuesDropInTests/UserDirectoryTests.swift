import ResourceValuesDropIn
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The user's directories", .cleansUp)
struct UserDirectoryTests {
    @Test("without settings they are those of the XDG specifications")
    func defaults() throws {
        let home = try temporaryDirectory()
        let directories = try directories(home)
        let expected = [
            "applicationDirectory": ".local/share/applications",
            "applicationSupportDirectory": ".local/share", "cachesDirectory": ".cache",
            "desktopDirectory": "Desktop", "documentDirectory": "Documents",
            "downloadsDirectory": "Downloads", "libraryDirectory": ".local/share",
            "moviesDirectory": "Videos", "musicDirectory": "Music",
            "picturesDirectory": "Pictures", "sharedPublicDirectory": "Public",
            "trashDirectory": ".local/share/Trash/files",
        ]
        for (name, path) in expected {
            #expect(directories[name]?.ours == "\(home)/\(path)", "\(name)")
        }
        #expect(directories["userDirectory"]?.ours == "/home")
        #expect(directories.count == expected.count + 1)
    }

    @Test("settings are followed, unless backups and purges would not accept them")
    func settings() throws {
        let home = try temporaryDirectory {
            Directory(".config") {
                File(
                    "user-dirs.dirs",
                    "XDG_DOCUMENTS_DIR=\"$HOME/Papiere\"\nXDG_VIDEOS_DIR=\"/srv/films\"\n")
            }
            Directory("c"); Directory("data")
        }
        let (caches, data) = ("\(home)/c", "\(home)/data")
        let set = try directories(home, ["XDG_CACHE_HOME": caches, "XDG_DATA_HOME": data])
        #expect(set["cachesDirectory"]?.ours == caches)
        #expect(set["applicationSupportDirectory"]?.ours == data)
        #expect(set["trashDirectory"]?.ours == data + "/Trash/files")
        #expect(set["documentDirectory"]?.ours == "\(home)/Papiere")
        #expect(set["moviesDirectory"]?.ours == "/srv/films")
        let outside = try directories(home, ["XDG_CACHE_HOME": "/srv", "XDG_DATA_HOME": "x"])
        #expect(outside["cachesDirectory"]?.ours == "\(home)/.cache")
        #expect(outside["applicationSupportDirectory"]?.ours == "\(home)/.local/share")
        let disposable = try directories(home, ["XDG_CACHE_HOME": home.string])
        #expect(disposable["cachesDirectory"]?.ours == "\(home)/.cache")
        for (name, paths) in set where name != "userDirectory" {
            #expect(paths.found == paths.ours, "\(name)")
        }
    }

    @Test("a search for a directory finds Foundation's in other domains, and creates the user's")
    func domains() throws {
        let manager = FileManager.default
        let (own, all) = (FileManager.SearchPathDomainMask.userDomainMask, manager.urls)
        #expect(all(.documentDirectory, own) == [.documentsDirectory])
        #expect(all(.documentDirectory, .allDomainsMask).first == .documentsDirectory)
        for directory in [FileManager.SearchPathDirectory.userDirectory, .documentDirectory] {
            #expect(all(directory, .localDomainMask) == foundationURLs(directory, .localDomainMask))
        }
        #expect(all(.coreServiceDirectory, own) == foundationURLs(.coreServiceDirectory, own))
        #expect(throws: (any Error).self) {
            try manager.url(for: .coreServiceDirectory, in: own, appropriateFor: nil, create: true)
        }
        let home = try temporaryDirectory {
            Directory(".config") { File("user-dirs.dirs", "XDG_MUSIC_DIR=\"$HOME/a/b\"\n") }
        }
        try Command(
            .built("foundation-tool"), "directories", "create", environment: ["HOME": home.string]
        ).runSuccessfully()
        try #expect(home.appending("a/b").status().permissions == 0o700)
        try #expect(home.appending("Documents").status().kind == .directory)
    }

    /// What `foundation-tool directories` prints, by the directory's name.
    private func directories(
        _ home: FilePath, _ variables: [String: String] = [:]
    ) throws -> [String: (ours: String, found: String)] {
        let command = Command(
            .built("foundation-tool"), "directories",
            environment: variables.merging(["HOME": home.string]) { $1 })
        var directories: [String: (ours: String, found: String)] = [:]
        for line in try command.runSuccessfully().split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 3)
            directories[words[0]] = (words[1], words[2])
        }
        return directories
    }
}
