//! The cgroups of a process: the ways by which a container's limits reach it (cgroups(7)).

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folders of the groups that hold a process and can give it less processor time, for each hierarchy: its own first, then
/// every one above that can be seen from here. Empty where nothing can be read.
///
/// `process` is a number or `self`, and `root` the folder in which `/proc` and what it names are found.
pub(crate) fn groups_of(root: &Path, process: &str) -> Vec<Vec<PathBuf>> {
    let read = |name: &str| {
        let bytes = fs::read(root.join("proc").join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (memberships, mounts) = (read(&format!("{process}/cgroup")), read("self/mountinfo"));
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
    let memberships = memberships.lines().filter_map(Membership::parse);
    // A hierarchy may be mounted more than once, and not everywhere can the group be seen.
    memberships.filter_map(|it| mounts.iter().find_map(|mount| mount.groups(&it, root))).collect()
}

/// A tree of groups with a say in processor time. Of a machine that has both, only one has it, which its files tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hierarchy {
    /// Version 1, by the controller `cpu`.
    Cpu,
    /// Version 2.
    Unified,
}

/// A line of `/proc/PID/cgroup`: the group in one hierarchy.
#[derive(Debug, PartialEq, Eq)]
struct Membership<'a> {
    hierarchy: Hierarchy,
    /// From the root of the cgroup namespace of whoever reads it.
    path: &'a Path,
}

/// A line of `/proc/self/mountinfo`: where a hierarchy, or a part of it, can be seen.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    hierarchy: Hierarchy,
    /// The group that is mounted, from the same root: in a container without a cgroup namespace, the container's own.
    group: PathBuf,
    /// Where.
    folder: PathBuf,
}

impl<'a> Membership<'a> {
    /// `4:cpu,cpuacct:/some/group`, or in version 2 `0::/some/group`.
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let hierarchy = match controllers {
            "" if number == "0" => Hierarchy::Unified,
            _ if has_cpu(controllers) => Hierarchy::Cpu,
            _ => return None,
        };
        Some(Self { hierarchy, path: Path::new(path) })
    }
}

impl Mount {
    /// `32 31 0:29 /group /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu`, with any number of optional fields
    /// before the dash (proc_pid_mountinfo(5)).
    fn parse(line: &str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut kind = kind.split(' ');
        let hierarchy = match (kind.next()?, kind.nth(1)?) {
            ("cgroup2", _) => Hierarchy::Unified,
            ("cgroup", options) if has_cpu(options) => Hierarchy::Cpu,
            _ => return None,
        };
        Some(Self { hierarchy, group: unescaped(place.next()?), folder: unescaped(place.next()?) })
    }

    /// The folders of a group and those above it, where they can be seen here.
    fn groups(&self, membership: &Membership<'_>, root: &Path) -> Option<Vec<PathBuf>> {
        // What lies beside or above what is mounted begins with `..`.
        let inside = membership.path.strip_prefix(&self.group).ok()?;
        let is_inside = inside.components().all(|part| matches!(part, Component::Normal(_)));
        if self.hierarchy != membership.hierarchy || !is_inside {
            return None;
        }
        let top = root.join(self.folder.strip_prefix("/").ok()?);
        // The last one is the top itself.
        let below = inside.ancestors().filter(|group| !group.as_os_str().is_empty()).map(|group| top.join(group));
        let groups: Vec<PathBuf> = below.chain([top.clone()]).collect();
        groups.first().is_some_and(|own| own.is_dir()).then_some(groups)
    }
}

fn has_cpu(controllers: &str) -> bool {
    controllers.split(',').any(|controller| controller == "cpu")
}

/// Blanks and the like stand as `\040` in mountinfo.
fn unescaped(field: &str) -> PathBuf {
    let mut parts = field.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_at_checked(3).map(|(code, rest)| (u8::from_str_radix(code, 8), rest)) {
            Some((Ok(code), rest)) => text.extend([char::from(code)].into_iter().chain(rest.chars())),
            _ => text.extend(['\\'].into_iter().chain(part.chars())),
        }
    }
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up machine: these lines in the two files, and these folders.
    fn machine(cgroup: &str, mountinfo: &str, folders: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for folder in ["proc/7", "proc/self"].iter().chain(folders) {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("proc/7/cgroup"), cgroup).unwrap();
        fs::write(root.path().join("proc/self/mountinfo"), mountinfo).unwrap();
        root
    }

    fn groups(cgroup: &str, mountinfo: &str, folders: &[&str]) -> Vec<String> {
        let root = machine(cgroup, mountinfo, folders);
        let inside = |folder: PathBuf| folder.strip_prefix(root.path()).unwrap().to_str().unwrap().to_owned();
        groups_of(root.path(), "7").into_iter().flatten().map(inside).collect()
    }

    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn every_group_above_counts() {
        assert_eq!(
            groups("0::/system.slice/nginx.service\n", UNIFIED, &["sys/fs/cgroup/system.slice/nginx.service"]),
            ["sys/fs/cgroup/system.slice/nginx.service", "sys/fs/cgroup/system.slice", "sys/fs/cgroup"]
        );
    }

    #[test]
    fn a_hybrid_machine_has_one_of_each_version() {
        let cgroup = "9:name=systemd:/\n4:memory:/m\n3:cpuset:/s\n2:cpuacct,cpu:/a\n0::/u\n";
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
            32 31 0:29 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n\
            33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:2 - cgroup cgroup rw,cpuacct,cpu\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let folders = ["sys/fs/cgroup/cpu,cpuacct/a", "sys/fs/cgroup/unified/u", "sys/fs/cgroup/cpuset/s"];
        assert_eq!(
            groups(cgroup, mounts, &folders),
            ["sys/fs/cgroup/cpu,cpuacct/a", "sys/fs/cgroup/cpu,cpuacct", "sys/fs/cgroup/unified/u", "sys/fs/cgroup/unified"]
        );
    }

    #[test]
    fn in_a_container_what_is_mounted_is_its_own_group() {
        // With a cgroup namespace.
        assert_eq!(groups("0::/\n", UNIFIED, &["sys/fs/cgroup"]), ["sys/fs/cgroup"]);
        // Without one, as version 1 has it most often.
        let mounts = "50 49 0:29 /docker/abc /sys/fs/cgroup/cpu ro,nosuid - cgroup cgroup rw,cpu,cpuacct\n";
        assert_eq!(
            groups("5:cpu,cpuacct:/docker/abc/inner\n", mounts, &["sys/fs/cgroup/cpu/inner"]),
            ["sys/fs/cgroup/cpu/inner", "sys/fs/cgroup/cpu"]
        );
        // Mounted before the namespace was made, two groups above its root.
        let mounts = UNIFIED.replace(" / /sys", " /../.. /sys");
        assert_eq!(groups("0::/../other\n", &mounts, &["sys/fs/cgroup/other"]), [""; 0]);
        assert_eq!(groups("0::/../../other\n", &mounts, &["sys/fs/cgroup/other"]), ["sys/fs/cgroup/other", "sys/fs/cgroup"]);
    }

    #[test]
    fn what_cannot_be_seen_is_nothing() {
        let folders = ["sys/fs/cgroup", "sys/fs/other", "sys/fs/cgroup/a"];
        // A process of another container, a group that is gone, no mount, no lines at all.
        assert_eq!(groups("0::/../other\n", UNIFIED, &folders), [""; 0]);
        assert_eq!(groups("0::/gone (deleted)\n", UNIFIED, &folders), [""; 0]);
        assert_eq!(groups("0::/a\n", "", &folders), [""; 0]);
        assert_eq!(groups("", UNIFIED, &folders), [""; 0]);
        assert_eq!(groups("\n::\n0::\n1:cpu\n0::a\n", "- - -\n1 2 3 4\nx - cgroup2\n", &folders), [""; 0]);
        assert!(groups_of(Path::new("/nowhere/at/all"), "self").is_empty());
        // The first of two mounts shows another part.
        let mounts = format!("{}{UNIFIED}", UNIFIED.replace(" / /sys/fs/cgroup ", " /b /sys/fs/other "));
        assert_eq!(groups("0::/a\n", &mounts, &folders), ["sys/fs/cgroup/a", "sys/fs/cgroup"]);
    }

    #[test]
    fn blanks_in_names_are_escaped_in_one_file_alone() {
        let mounts = UNIFIED.replace("/sys/fs/cgroup", r"/mnt/c\040g\134x");
        assert_eq!(groups("0::/a b:c\n", &mounts, &[r"mnt/c g\x/a b:c"]), [r"mnt/c g\x/a b:c", r"mnt/c g\x"]);
        assert_eq!(unescaped(r"a\"), PathBuf::from(r"a\"));
        assert_eq!(unescaped(r"\99é"), PathBuf::from(r"\99é"));
    }
}
