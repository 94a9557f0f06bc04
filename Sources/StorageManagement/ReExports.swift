// Types of these modules are part of this one's interface.
@_exported import PurgePlanning
@_exported import StoragePolicy
