import StorageServicesDropIn

/// The code of an app's start-up. The file must be readable.
func observeProtectedData(in protectedFileURL: URL) throws {
    // Check if protected data is currently available
    if UIApplication.shared.isProtectedDataAvailable {
        // Safe to read .complete files
        let data = try Data(contentsOf: protectedFileURL)
    } else {
        // Wait for device unlock
    }
    // Observe availability changes
    NotificationCenter.default.addObserver(
        forName: UIApplication.protectedDataDidBecomeAvailableNotification,
        object: nil,
        queue: .main
    ) { _ in
        // Protected files are now accessible
        print("available")
    }
    NotificationCenter.default.addObserver(
        forName: UIApplication.protectedDataWillBecomeUnavailableNotification,
        object: nil,
        queue: .main
    ) { _ in
        // Close file handles to .complete files
        print("unavailable")
    }
}
