// Names of this module's own declarations: FileLocation, FileStatus, FileError and others.
@_exported import SystemCalls
