/// Takes the place of the C library's setpriority(2) in this program, and leaves priorities alone.
///
/// libdispatch, on which Swift runs tasks, gives each of its threads a priority that follows from the
/// task's. That would undo what `nice` or the service's `Nice=` set, for restic too; where it is not
/// permitted, libdispatch writes an error to the system's log for each thread.
@_cdecl("setpriority")
func leavePriorityAlone(_ kind: CInt, _ identifier: CUnsignedInt, _ value: CInt) -> CInt { 0 }
