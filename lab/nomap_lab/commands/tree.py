# SPDX-License-Identifier: MIT
"""usage: lab/tree [--again] NAME
       lab/tree --save NAME
       lab/tree --list

Unpacks a source that we have patches for into build/trees/NAME, as a git repository
with our series as commits on top of the pristine source (tag "base"): code is edited
and rebased there with git, never inside a patch file. --save writes the commits back
as patch files; what has not changed stays as it is, byte for byte.

  libdrm   Debian's libdrm                       libdrm/patches
  kernel   radeon of the stock kernel's source   kernel/patches/6.12 (the hooks). The
           driver's new files are links to kernel/drivers and kernel/include: editing
           them edits the repository. Those that a later layer's patch changes are
           copies: edit them in the repository, and unpack again
  mm       mm and lib of the same source         kernel/mm/patches/6.12, 6.12-test
  mesa     Debian's Mesa                         mesa-patches/patches

  --again  unpack anew; without it an existing tree is left alone. Refused while the
           tree has something that --save has not written
  --save   refused while the work tree has changes that are in no commit

A commit keeps the name of its patch file through rebases and amendments. A new one
gets a name from its subject, in the directory of the patch before it.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nomap_lab import cli, graph
from nomap_lab.paths import BUILD, TOP, LabError, UsageError, need_free, say

LINUX = "/usr/src/linux-source-6.12.tar.xz"
CHECKPATCH = ("scripts/checkpatch.pl", "scripts/spelling.txt", "scripts/const_structs.checkpatch")
RADEON = ("drivers/gpu/drm/radeon", "include/uapi/drm/radeon_drm.h", *CHECKPATCH)
MM = ("include/linux", "kernel/fork.c", "lib", "mm", "Documentation/core-api/maple_tree.rst", *CHECKPATCH,
      "tools/include", "tools/lib", "tools/scripts", "tools/arch/x86/include", "tools/testing/radix-tree",
      "tools/testing/shared", "tools/testing/vma")
#: Of commits that the lab makes itself; authors are those of the patches.
COMMITTER = {"GIT_COMMITTER_NAME": "nomap", "GIT_COMMITTER_EMAIL": "nomap@localhost"}
AUTHOR = {"GIT_AUTHOR_NAME": "nomap", "GIT_AUTHOR_EMAIL": "nomap@localhost"}
PRISTINE = {**AUTHOR, "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z"}
#: The names of patch files, relative to the directory of the series, are notes of the commits, which git
#: carries along when it rebases.
SETTINGS = {"notes.rewriteRef": "refs/notes/patch", "notes.rewrite.amend": "true", "notes.rewrite.rebase": "true",
            "core.notesRef": "refs/notes/patch", "core.safecrlf": "false", "gc.auto": "0"}
#: Leaves out what differs between equal patches: hashes, git's version, numbers. An empty line ends the file
#: where git writes a signature otherwise.
FORMAT = ("format-patch", "-q", "-1", "--stdout", "--zero-commit", "--no-signature", "--no-numbered", "--no-base",
          "--no-thread", "--no-color", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/", "--stat=72",
          "--summary")
#: The hashes of blobs in a patch, which change with the patches before it.
HASHES = re.compile(rb"^index [0-9a-f]*\.\.[0-9a-f]*(?: [0-7]*)?(?:\n|\Z)", re.M)


def environment(extra: dict[str, str]) -> dict[str, str]:
    """git's, without the settings of the user and of the repository that contains the tree."""
    env = {k: v for k, v in os.environ.items() if k not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}
    return {**env, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*", **COMMITTER, **extra}


def canon(patch: bytes) -> bytes:
    """A patch without hashes of blobs."""
    return HASHES.sub(b"", patch)


def own(path: Path) -> None:
    """Gives a path to the repository's owner."""
    top = TOP.stat()
    os.lchown(path, top.st_uid, top.st_gid)


@dataclass
class Tree:
    """A source, and the series of patches on top of it."""

    name: str
    #: Directory of the patches: what names of files are relative to.
    patches: str
    #: Directories in it, in the order in which their patches apply.
    series: tuple[str, ...] = (".",)
    #: Where the git repository is.
    dir: Path = Path()

    def __post_init__(self) -> None:
        self.dir = BUILD / "trees" / self.name
        self.root = TOP / self.patches

    def git(self, *words: str | Path, check: bool = True, quiet: bool = False,
            env: dict[str, str] | None = None) -> bytes:
        """Runs git in the tree and returns its output. Raises LabError if it fails and CHECK."""
        done = subprocess.run(["git", "-C", self.dir, *words], env=environment(env or {}), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if quiet else None, check=False)
        if check and done.returncode:
            raise LabError(f"lab/tree: git {words[0]} failed in {self.shown} (see above)")
        return done.stdout

    @property
    def shown(self) -> str:
        """The tree's directory, for messages."""
        return f"build/trees/{self.name}"

    def commits(self) -> list[str]:
        """The commits on top of base, in their order."""
        return self.git("rev-list", "--reverse", "--topo-order", "base..HEAD").decode().split()

    def files(self) -> list[str]:
        """The patch files in their order, relative to their directory."""
        found = []
        for directory in self.series:
            listing = self.root / directory / "series"
            if listing.exists():
                lines = (line.split("#")[0].rstrip() for line in listing.read_text(encoding="utf-8").splitlines())
                names = [line for line in lines if line]
            else:
                names = sorted(path.name for path in (self.root / directory).glob("*.patch"))
            found += [str(PurePosixPath(directory, name)) for name in names]
        return found

    def stamp(self) -> str:
        """The patch files and what is in them."""
        try:
            return "".join(f"{hashlib.sha256((self.root / f).read_bytes()).hexdigest()}  {f}\n" for f in self.files())
        except FileNotFoundError as error:
            raise LabError(f"lab/tree: there is no {self.patches}/{error.filename}: its series names it") from None

    def note(self, commit: str, file: str) -> None:
        """Notes down the patch file of a commit."""
        self.git("notes", "add", "-f", "-m", file, commit, quiet=True, env=AUTHOR)

    def take(self, *parts: str) -> None:
        """Takes parts of the kernel's source, by take() of kernel/lib.sh."""
        subprocess.run(["bash", "-ec", '. kernel/lib.sh; take "$@"', "take", LINUX, self.dir, *parts], cwd=TOP,
                       check=True)

    def pristine(self) -> None:
        """Unpacks the source."""
        if self.name == "mm":
            self.take(*MM)
        elif self.name == "kernel":
            self.take(*RADEON)
            # Files of ours that a later layer changes by a patch.
            for patch in sorted((self.root / self.series[0]).glob("*.patch")):
                for file in re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(encoding="utf-8"), re.M):
                    if (TOP / "kernel" / file).exists():
                        (self.dir / file).parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(TOP / "kernel" / file, self.dir / file)
                        (self.dir / file).chmod(0o644)
        elif self.name == "mesa" and os.access(TOP / "mesa-patches/unpack", os.X_OK):
            subprocess.run([TOP / "mesa-patches/unpack", "build/mesa-source", self.dir], cwd=TOP, check=True)
        else:
            (archive,) = (BUILD / f"{self.name}-source").glob(f"{self.name}_*.orig.tar.*z")
            subprocess.run(["tar", "-xf", archive, "-C", self.dir, "--strip-components=1"], check=True)

    def link_overlay(self) -> None:
        """The rest of the driver's new files is no part of the commits: it lives in the repository."""
        excluded = []
        for top in ("drivers", "include"):
            for path in sorted((TOP / "kernel" / top).rglob("*")):
                file = path.relative_to(TOP / "kernel")
                link = self.dir / file
                if not path.is_file() or path.is_symlink() or link.exists():
                    continue
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(os.path.relpath(path, link.parent))
                excluded.append(f"/{file}\n")
        with open(self.dir / ".git/info/exclude", "a", encoding="utf-8") as f:
            f.writelines(excluded)

    def unpack(self) -> None:
        """Unpacks the source and commits the series, in another directory first, so that an existing tree is
        complete."""
        final = self.dir
        self.dir = final.with_name(f"{self.name}.new")
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True)
        self.pristine()
        self.git("-c", "init.defaultBranch=nomap", "init", "-q", ".")
        for key, value in SETTINGS.items():
            self.git("config", key, value)
        self.git("add", "-Af", ".", env=PRISTINE)
        self.git("commit", "-q", "-m", f"{self.name}: pristine source", env=PRISTINE)
        self.git("tag", "base")
        for n, file in enumerate(self.files(), 1):
            path = self.root / file
            if not path.exists():
                raise LabError(f"lab/tree: there is no {self.patches}/{file}: its series names it")
            if n % 20 == 0:
                say(f"{self.shown}: {n} patches")
            done = subprocess.run(["git", "-C", self.dir, "am", "-q", "--committer-date-is-author-date", "--keep-cr",
                                   "--keep-non-patch", path], env=environment({}), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode:
                print(done.stdout, end="", file=sys.stderr)
                raise LabError(f"lab/tree: {self.patches}/{file} does not apply to the commits before it")
            self.note("HEAD", file)
        if self.name == "kernel":
            self.link_overlay()
        (self.dir / ".git/nomap").mkdir()
        (self.dir / ".git/nomap/stamp").write_text(self.stamp(), encoding="utf-8")
        shutil.rmtree(final, ignore_errors=True)
        self.dir.rename(final)
        self.dir = final

    def formatted(self) -> dict[str, bytes]:
        """The patch files of all commits, in their order."""
        if self.git("rev-list", "--merges", "base..HEAD"):
            raise LabError("lab/tree: a series has no merges: rebase first")
        patches = {}
        directory = PurePosixPath(self.series[0])
        # Numbers go through all directories of a series.
        for n, commit in enumerate(self.commits(), 1):
            noted = self.git("notes", "show", commit, check=False, quiet=True).decode().splitlines()
            if noted and noted[-1]:
                directory, base = PurePosixPath(noted[-1]).parent, PurePosixPath(noted[-1]).name
            else:
                subject = self.git("log", "-1", "--format=%f", commit).decode().strip()
                base = subject[:52].rstrip("-.") + ".patch"
            base = re.sub("^[0-9]{4}-", "", base)
            patches[str(directory / f"{n:04}-{base}")] = canon(self.git(*FORMAT, commit))
        if not patches:
            raise LabError("lab/tree: there is no commit on top of base")
        return patches

    def refuse_unclean(self) -> None:
        """Refuses a tree with something uncommitted or in progress."""
        if any((self.dir / ".git" / name).is_dir() for name in ("rebase-merge", "rebase-apply")):
            raise LabError(f"lab/tree: a rebase or am is in progress in {self.shown}: end it first")
        if self.git("status", "--porcelain"):
            print(self.git("status", "--short").decode(errors="replace"), end="", file=sys.stderr)
            raise LabError(f"lab/tree: {self.shown} has changes that are in no commit: commit or stash them first")
        if subprocess.run(["git", "-C", self.dir, "merge-base", "--is-ancestor", "base", "HEAD"], env=environment({}),
                          check=False).returncode:
            raise LabError(f"lab/tree: HEAD of {self.shown} is not on top of base")

    def is_same(self, file: str, patch: bytes) -> bool:
        """Is this what a patch file has, apart from hashes of blobs?"""
        path = self.root / file
        return path.exists() and canon(path.read_bytes()) == patch

    def is_saved(self) -> bool:
        """Does the tree hold nothing that save() would write?"""
        self.refuse_unclean()
        patches = self.formatted()
        return self.files() == list(patches) and all(self.is_same(f, patch) for f, patch in patches.items())

    def save(self) -> None:
        """Writes the commits back as patch files."""
        self.refuse_unclean()
        patches = self.formatted()
        # Somebody's edit of a patch file must not be lost, nor a patch that came meanwhile.
        if self.stamp() != (self.dir / ".git/nomap/stamp").read_text(encoding="utf-8"):
            raise LabError(f"lab/tree: {self.patches} is not what this tree was unpacked from: unpack it again, and "
                           "take your commits there")
        for file in self.files():
            if file not in patches:
                print(f"removed  {self.patches}/{file}")
                (self.root / file).unlink()
        for file, patch in patches.items():
            if self.is_same(file, patch):
                continue
            path = self.root / file
            print(f"{'changed ' if path.exists() else 'new     '} {self.patches}/{file}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(patch)
            own(path)
        for directory in self.series:
            self.save_series(directory, list(patches))
        self.git("notes", "prune")
        for commit, file in zip(self.commits(), patches, strict=True):
            self.note(commit, file)
        (self.dir / ".git/nomap/stamp").write_text(self.stamp(), encoding="utf-8")
        print(f"{len(patches)} patches in {self.patches}")

    def save_series(self, directory: str, files: list[str]) -> None:
        """Writes the file "series" of a directory, if it has one: comments, then the patches."""
        path = self.root / directory / "series"
        if not path.exists():
            return
        before = path.read_text(encoding="utf-8")
        comments = [line for line in before.splitlines() if line.startswith("#")]
        names = [PurePosixPath(f).name for f in files if PurePosixPath(f).parent == PurePosixPath(directory)]
        text = "".join(f"{line}\n" for line in [*comments, *names])
        if text != before:
            print(f"changed  {self.patches}/{directory}/series")
            path.write_text(text, encoding="utf-8")


TREES = {tree.name: tree for tree in (
    Tree("libdrm", "libdrm/patches"),
    Tree("kernel", "kernel/patches", ("6.12",)),
    Tree("mm", "kernel/mm/patches", ("6.12", "6.12-test")),
    Tree("mesa", "mesa-patches/patches"),
)}


def main(argv: list[str]) -> int:
    """The command."""
    parser = cli.parser(__doc__, prog="lab/tree")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("name", metavar="NAME", nargs="?")
    args = parser.parse(argv)
    if args.list:
        print("\n".join(TREES))
        return 0
    if args.name not in TREES:
        raise UsageError(f"NAME is one of {' '.join(TREES)}, not '{args.name or ''}'")
    tree = TREES[args.name]
    there = (tree.dir / ".git").is_dir()
    if args.save:
        if not there:
            raise LabError(f"there is no {tree.shown}: run 'lab/tree {tree.name}' first")
        tree.save()
        return 0
    if there and not args.again:
        say(f"{tree.shown} is there; --again unpacks anew")
        return 0
    if tree.name in ("libdrm", "mesa"):
        graph.ensure(f"{tree.name}-source")
    if there and not tree.is_saved():
        raise LabError(f"{tree.shown} has work that --save has not written: save it, or remove the directory")
    need_free(1000, BUILD, f"unpacking the source of {tree.name}")
    say(f"{tree.shown}: unpacking")
    tree.unpack()
    # The repository's owner works in the tree.
    subprocess.run(["chown", "-R", f"--reference={TOP}", tree.dir], check=True)
    say(f"{tree.shown}: {len(tree.commits())} commits on base")
    return 0
