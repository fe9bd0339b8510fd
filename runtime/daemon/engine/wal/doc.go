// Package wal keeps records in files: a log that is appended to, and snapshots that shorten it.
//
// A folder belongs to one process at a time and holds
//
//	LOCK                            held by the process that has it open
//	00000000000000000001.log        a segment: the records from version 1 on
//	00000000000000004711.log        the next one; exactly one version further than the last record before
//	00000000000000004710.snapshot   the objects at version 4710
//
// Every file begins with a header: magic, 'L' or 'S', format, the version of its name, a checksum. Frames
// follow. A frame is what was synced together: its length, the checksum of its content and the checksum of
// those two, 4 bytes each, then records. A record is
//
//	'J' version expires key object    what is stored under the key from now on, as JSON
//	'D' version key                   nothing is stored there any more
//	'E' count                         the end of a snapshot, and how many objects it holds
//
// with numbers as unsigned varints, and a length before key and object. Checksums are CRC-32C.
//
// # What a crash leaves
//
// A frame is written when the one before it is durable. So only the last frame of the last segment can be
// half there: the file ends in it, or a sector of it was never written and reads as zeros. Where a crash
// left it, such a frame was not acknowledged; a file that was truncated looks the same. It is cut off, and
// reported. Whatever else does not add up is damage, and is reported with file and offset: a frame that is
// all there and has a wrong checksum, one with good frames after it, a version that is missing, a snapshot
// without its end.
//
// # What a deleted folder leaves
//
// A file that is open can be written and synced after it was deleted. So before a frame counts as durable,
// the folder, LOCK and the open segment are held against their paths.
//
// A snapshot is written beside the others, synced and then renamed. The two newest are kept, and the log
// since the older of them, so that one damaged snapshot costs nothing.
package wal
