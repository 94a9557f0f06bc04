// A file that imports only this module gets Foundation as ResourceValuesDropIn provides it, and the
// types of BackgroundTasks, MetricKit and UIKit that are here. On Apple's systems it gets theirs.
@_exported import ResourceValuesDropIn

#if canImport(BackgroundTasks)
@_exported import BackgroundTasks
#endif
#if canImport(MetricKit)
@_exported import MetricKit
#endif
#if canImport(UIKit)
@_exported import UIKit
#endif
