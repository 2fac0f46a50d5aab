"""The files of an experiment: Lua, pictures, a robot, a scanned building."""
import pathlib
import shutil
import struct
import zlib

HERE = pathlib.Path(__file__).resolve().parent
LUA = ("world.lua", "places.lua", "task.lua", "block.lua")


def write_png(path, height, width, colour):
    """A picture whose pixel at (row, column) is colour(row, column)."""
    rows = b"".join(b"\0" + bytes(value & 255 for column in range(width) for value in colour(row, column)) for row in range(height))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_frames(folder, count, height, width, number):
    folder.mkdir(parents=True)
    for i in range(count):
        write_png(folder / f"{i + 8}.png", height, width, lambda r, c: (r * 9 + i * 20, c * 5 + number * 60, (r + c) * i + 30 * number))


def write_videos(folder):
    for number in range(16):
        write_frames(folder / ("train" if number % 2 else "validation") / f"bus-{number}", 1 + number % 3, 6 + number, 8, number)


def write_scan(folder):
    """Two storeys of one room, 8 x 7 m, with a pillar."""
    vertices, faces = [], []

    def quad(*points):
        first = len(vertices) + 1
        vertices.extend(points)
        faces.extend([(first, first + 1, first + 2), (first, first + 2, first + 3)])

    for z in (0, 3):
        quad((-1, -3, z), (7, -3, z), (7, 4, z), (-1, 4, z))
        for x0, y0, x1, y1 in ((-1, -3, 7, -3), (7, -3, 7, 4), (7, 4, -1, 4), (-1, 4, -1, -3),
                               (4, 0, 4.3, 0), (4.3, 0, 4.3, 0.3), (4.3, 0.3, 4, 0.3), (4, 0.3, 4, 0)):
            quad((x0, y0, z), (x1, y1, z), (x1, y1, z + 2.5), (x0, y0, z + 2.5))
    folder.mkdir()
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a} {b} {c}" for a, b, c in faces]
    (folder / "mesh_z_up.obj").write_text("\n".join(lines) + "\n")
    (folder / "floors.txt").write_text("0\n3\n")


def write_robot(path):
    """A1 under another name, whose trunk is a mesh."""
    text = (HERE / "../../envs/legged/models/a1.urdf").read_text()
    box = '<collision><origin xyz="0 0 0"/><geometry><box size="0.267 0.194 0.114"/></geometry></collision>'
    assert box in text
    mesh = '<collision><geometry><mesh filename="trunk.obj"/></geometry></collision>'
    path.write_text(text.replace(box, mesh).replace('name="a1"', 'name="b2"'))
    corners = [(x, y, z) for x in (-0.13, 0.14) for y in (-0.09, 0.09) for z in (-0.05, 0.06)]
    sides = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + ["f " + " ".join(map(str, side)) for side in sides]
    path.with_name("trunk.obj").write_text("\n".join(lines) + "\n")


def write_files(case, folder):
    """All that the experiment's script names."""
    for name in LUA:
        shutil.copy(HERE / name, folder / name)
    makers = {"videos": write_videos, "frames": lambda path: write_frames(path, 4, 20, 12, 1), "robot.urdf": write_robot,
              "scan": write_scan, "slider.xml": lambda path: shutil.copy(HERE / "slider.xml", path)}
    for name in case.files():
        makers[name](folder / name)
    write_png(folder / "grid.png", 8, 8, lambda r, c: (r * 30, c * 30, 90))


def carry_files(case, folder, place):
    """The same files elsewhere."""
    place.mkdir(parents=True, exist_ok=True)
    for path in [folder / name for name in (*LUA, *case.files(), "grid.png", "trunk.obj", "given.iap", "experiment.lua")]:
        if path.is_dir():
            shutil.copytree(path, place / path.name)
        elif path.exists():
            shutil.copy(path, place / path.name)
