import StorageServicesDropIn

func clearImageCache() { print("image cache cleared") }

func observeMemoryWarnings() {
    // iOS posts this when storage is critically low (UIKit apps)
    NotificationCenter.default.addObserver(
        forName: UIApplication.didReceiveMemoryWarningNotification,
        object: nil,
        queue: .main
    ) { _ in
        // Clear in-memory caches; consider trimming disk caches too
        clearImageCache()
    }
}
