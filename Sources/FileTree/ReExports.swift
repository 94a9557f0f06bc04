// Types in this module's declarations: FileLocation, FileStatus, FileError and others.
@_exported import SystemCalls
