"""Whether a run's metrics.jsonl and TensorBoard events hold what its metrics.csv does: events.py FOLDER. Reads them with Python's own
modules and Debian's python3-protobuf; the messages are those of TensorFlow's event.proto and summary.proto."""
import csv
import json
import math
import os
import struct
import sys

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    print("there is no python3-protobuf")
    sys.exit(77)


def message_classes():
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="tensorflow", syntax="proto3")
    field = descriptor_pb2.FieldDescriptorProto
    fields = {
        "Summary.Value": [("tag", 1, field.TYPE_STRING, None), ("simple_value", 2, field.TYPE_FLOAT, None)],
        "Summary": [("value", 1, field.TYPE_MESSAGE, ".tensorflow.Value")],
        "Event": [("wall_time", 1, field.TYPE_DOUBLE, None), ("step", 2, field.TYPE_INT64, None),
                  ("file_version", 3, field.TYPE_STRING, None), ("summary", 5, field.TYPE_MESSAGE, ".tensorflow.Summary")],
    }
    for name, members in fields.items():
        message = file.message_type.add(name=name.split(".")[-1])
        for label, number, kind, of in members:
            many = field.LABEL_REPEATED if name == "Summary" else field.LABEL_OPTIONAL
            message.field.add(name=label, number=number, type=kind, label=many, type_name=of)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    event = pool.FindMessageTypeByName("tensorflow.Event")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(event)
    return message_factory.MessageFactory(pool).GetPrototype(event)


def masked_crc32c(data):
    """Castagnoli's polynomial, bit by bit (RFC 3720), turned and shifted as TFRecord does."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        length, sum_of_length = struct.unpack("<QI", data[at:at + 12])
        body = data[at + 12:at + 12 + length]
        (sum_of_body,) = struct.unpack("<I", data[at + 12 + length:at + 16 + length])
        assert masked_crc32c(data[at:at + 8]) == sum_of_length and masked_crc32c(body) == sum_of_body, "a record's sum is wrong"
        yield body
        at += 16 + length


def as_float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


assert masked_crc32c(b"") == 0xA282EAD8
folder = sys.argv[1]
rows = [{key: float(cell) if cell else None for key, cell in row.items()} for row in csv.DictReader(open(os.path.join(folder, "metrics.csv")))]
assert [row["iteration"] for row in rows] == list(range(len(rows))), "metrics.csv itself"

lines = [json.loads(line) for line in open(os.path.join(folder, "metrics.jsonl"))]
assert lines == [{key: value if value is None or math.isfinite(value) else None for key, value in row.items()} for row in rows], "metrics.jsonl"

Event = message_classes()
names = [name for name in os.listdir(folder) if "tfevents" in name]
assert len(names) == 1, names
events = [Event.FromString(record) for record in records(os.path.join(folder, names[0]))]
head = events.pop(0)
assert head.file_version == "brain.Event:2" and head.wall_time > 1e9, head
assert [event.step for event in events] == list(range(len(rows))), "steps of the events"
for row, event in zip(rows, events):
    values = {value.tag: value.simple_value for value in event.summary.value}
    wanted = {key: as_float32(value) for key, value in row.items() if value is not None and key != "iteration"}
    assert values == wanted, (values, wanted)
    assert abs(event.wall_time - head.wall_time - (row["seconds"] or 0)) < 1e-5, event.wall_time
print(len(rows), "rows")
