"""What a window on an X screen shows, read from xwd's dump and compared with a PNG; and a request to close it.

window.py same DUMP WIDTH HEIGHT COLUMN PNG   the upper left of the dump is the part of the PNG that begins in COLUMN
window.py pixel DUMP X Y                      prints red, green and blue
window.py close WINDOW                        what a window manager does when its cross is clicked
"""
import ctypes
import struct
import sys
import zlib


def read_xwd(path):
    data = open(path, "rb").read()
    words = struct.unpack(">25I", data[:100])
    header, width, height, little, bits, stride, colours = (words[i] for i in (0, 4, 5, 7, 11, 12, 19))
    assert bits == 32 and little == 0, (bits, little)
    start = header + 12 * colours
    rows = [data[start + y * stride:start + (y + 1) * stride] for y in range(height)]
    return [[row[4 * x:4 * x + 3][::-1] for x in range(width)] for row in rows]


def read_png(path):
    data = open(path, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2), (depth, colour)
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    lines, stride = zlib.decompress(packed), 3 * width
    above, rows = bytearray(stride), []
    for y in range(height):
        kind, line = lines[y * (stride + 1)], bytearray(lines[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = line[i - 3] if i >= 3 else 0, above[i], above[i - 3] if i >= 3 else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = line[i] + (0, a, b, (a + b) // 2, paeth)[kind] & 255
        rows.append([bytes(line[3 * x:3 * x + 3]) for x in range(width)])
        above = line
    return rows


def close(window):
    """WM_DELETE_WINDOW, as ICCCM says."""
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XInternAtom.restype = ctypes.c_ulong

    class ClientMessage(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                    ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong), ("format", ctypes.c_int), ("data", ctypes.c_long * 5),
                    ("pad", ctypes.c_long * 24)]

    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    atom = lambda name: x11.XInternAtom(display, name, 0)
    event = ClientMessage(type=33, window=window, message_type=atom(b"WM_PROTOCOLS"), format=32)
    event.data[0] = atom(b"WM_DELETE_WINDOW")
    x11.XSendEvent(display, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(event))
    x11.XCloseDisplay(display)


command, arguments = sys.argv[1], sys.argv[2:]
if command == "same":
    dump, (width, height, column), png = read_xwd(arguments[0]), map(int, arguments[1:4]), read_png(arguments[4])
    sys.exit(not all(dump[y][:width] == png[y][column:column + width] for y in range(height)))
elif command == "pixel":
    print(*read_xwd(arguments[0])[int(arguments[2])][int(arguments[1])])
else:
    close(int(arguments[0]))
