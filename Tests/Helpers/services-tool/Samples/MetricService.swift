import StorageServicesDropIn

class MetricService: NSObject, MXMetricManagerSubscriber {
    let metricManager: MXMetricManager = MXMetricManager.shared

    override init() {
        super.init()
        metricManager.add(self)
    }

    func didReceive(_ payloads: [MXMetricPayload]) {
        payloads.forEach({ payload in
            if let diskUsage = payload.diskSpaceUsageMetrics {
                // Analyze your app's disk usage.
                print("received:", diskUsage.totalDataFileCount, "files of data")
            }
        })
    }
}
