//! The globe: places, their 52-bit geohashes, and distances. The ranges, the radius and the order of bits
//! are Redis's (its geohash.c and geohash_helper.c), so that scores mean the same.

/// Latitudes go so far north and south: the square of the web's Mercator maps (EPSG:3857).
pub(super) const LATITUDE_MAX: f64 = 85.05112878;
/// Longitudes go so far east and west.
pub(super) const LONGITUDE_MAX: f64 = 180.0;
/// Bits of each coordinate in a score.
pub(super) const STEPS_MAX: u32 = 26;
/// Metres.
const EARTH_RADIUS: f64 = 6_372_797.560856;
const ALPHABET: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// A place on the globe, in degrees.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Place {
    pub(super) longitude: f64,
    pub(super) latitude: f64,
}

/// A cell of the grid that has `2^steps` rows and columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    pub(super) steps: u32,
    pub(super) row: u32,
    pub(super) column: u32,
}

/// Degrees on each side of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides {
    pub(super) south: f64,
    pub(super) north: f64,
    pub(super) west: f64,
    pub(super) east: f64,
}

impl Cell {
    /// The cell of a place.
    pub(super) fn of(place: Place, steps: u32) -> Cell {
        Cell::within(place, steps, LATITUDE_MAX)
    }

    fn within(place: Place, steps: u32, latitude_max: f64) -> Cell {
        let part = |value: f64, max: f64| {
            let line = (value + max) / (2.0 * max) * f64::from(1u32 << steps);
            // The far end belongs to the last cell.
            (line as u32).min((1 << steps) - 1)
        };
        Cell { steps, row: part(place.latitude, latitude_max), column: part(place.longitude, LONGITUDE_MAX) }
    }

    /// The cell of a score.
    fn of_score(score: f64) -> Cell {
        let bits = score as u64;
        Cell { steps: STEPS_MAX, row: gather(bits), column: gather(bits >> 1) }
    }

    pub(super) fn sides(self) -> Sides {
        let side = |line: u32, max: f64| -max + f64::from(line) / f64::from(1u32 << self.steps) * (2.0 * max);
        Sides {
            south: side(self.row, LATITUDE_MAX),
            north: side(self.row + 1, LATITUDE_MAX),
            west: side(self.column, LONGITUDE_MAX),
            east: side(self.column + 1, LONGITUDE_MAX),
        }
    }

    /// Rows and columns in turn, bit by bit: neighbours have near numbers.
    pub(super) fn bits(self) -> u64 {
        spread(self.row) | spread(self.column) << 1
    }

    /// The cell so many rows north and columns east, around the globe.
    pub(super) fn moved(self, north: i32, east: i32) -> Cell {
        let mask = (1u32 << self.steps) - 1;
        Cell {
            row: self.row.wrapping_add_signed(north) & mask,
            column: self.column.wrapping_add_signed(east) & mask,
            ..self
        }
    }

    /// The scores of places in the cell: from the first to before the second.
    pub(super) fn scores(self) -> (f64, f64) {
        let shift = 2 * (STEPS_MAX - self.steps);
        ((self.bits() << shift) as f64, ((self.bits() + 1) << shift) as f64)
    }
}

/// Puts a zero between any two bits.
fn spread(bits: u32) -> u64 {
    let mut bits = u64::from(bits);
    for (shift, mask) in [
        (16, 0x0000_FFFF_0000_FFFF),
        (8, 0x00FF_00FF_00FF_00FF),
        (4, 0x0F0F_0F0F_0F0F_0F0F),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

/// Takes every second bit.
fn gather(bits: u64) -> u32 {
    let mut bits = bits & 0x5555_5555_5555_5555;
    for (shift, mask) in [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0F0F_0F0F_0F0F_0F0F),
        (4, 0x00FF_00FF_00FF_00FF),
        (8, 0x0000_FFFF_0000_FFFF),
        (16, 0x0000_0000_FFFF_FFFF),
    ] {
        bits = (bits | bits >> shift) & mask;
    }
    bits as u32
}

impl Place {
    /// The score of a place: 52 bits, which a double holds exactly.
    pub(super) fn score(self) -> f64 {
        Cell::of(self, STEPS_MAX).bits() as f64
    }

    /// The middle of the cell that a score names.
    pub(super) fn of_score(score: f64) -> Place {
        let sides = Cell::of_score(score).sides();
        let middle = |low: f64, high: f64, max: f64| ((low + high) / 2.0).clamp(-max, max);
        Place {
            longitude: middle(sides.west, sides.east, LONGITUDE_MAX),
            latitude: middle(sides.south, sides.north, LATITUDE_MAX),
        }
    }

    /// Its geohash as others write it, over the whole range of latitudes. A score has bits for ten
    /// letters and two more; the eleventh is always a zero, as in Redis.
    pub(super) fn text(self) -> [u8; 11] {
        let bits = Cell::within(self, STEPS_MAX, 90.0).bits();
        std::array::from_fn(|letter| match letter {
            10 => ALPHABET[0],
            letter => ALPHABET[(bits >> (52 - 5 * (letter + 1)) & 31) as usize],
        })
    }

    /// Metres to another place on a great circle (the haversine formula).
    pub(super) fn distance(self, other: Place) -> f64 {
        // Each to radians first: where a distance is stored, its last digits are seen, and Redis's are these.
        let longitudes = other.longitude.to_radians() - self.longitude.to_radians();
        let half_longitude = (longitudes / 2.0).sin();
        if half_longitude == 0.0 {
            return self.distance_of_latitudes(other);
        }
        let (own, others) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half_latitude = ((others - own) / 2.0).sin();
        let chord =
            half_latitude * half_latitude + own.cos() * others.cos() * half_longitude * half_longitude;
        2.0 * EARTH_RADIUS * chord.sqrt().asin()
    }

    /// Metres between the latitudes of two places.
    pub(super) fn distance_of_latitudes(self, other: Place) -> f64 {
        EARTH_RADIUS * (other.latitude.to_radians() - self.latitude.to_radians()).abs()
    }

    /// Degrees of latitude in so many metres.
    pub(super) fn latitude_degrees(metres: f64) -> f64 {
        (metres / EARTH_RADIUS).to_degrees()
    }

    /// Degrees of longitude in so many metres at a latitude.
    pub(super) fn longitude_degrees(metres: f64, latitude: f64) -> f64 {
        (metres / EARTH_RADIUS / latitude.to_radians().cos()).to_degrees()
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_score_names_its_place() {
        let palermo = Place { longitude: 13.361389, latitude: 38.115556 };
        assert_eq!(palermo.score(), 3_479_099_956_230_698.0);
        let again = Place::of_score(palermo.score());
        assert!((again.longitude - palermo.longitude).abs() < 1e-5);
        assert_eq!(again.score(), palermo.score());
        assert_eq!(&again.text(), b"sqc8b49rny0");
    }

    #[test]
    fn distances_have_the_last_digits_of_redis() {
        let place = Place { longitude: 2.190_938_995_263_2, latitude: 41.433_791_470_673 };
        let met = Place::of_score(place.score());
        let here = Place { longitude: 2.191, latitude: 41.433 };
        assert_eq!(here.distance(met).to_string(), "88.05060698409301");
    }

    #[test]
    fn corners_and_poles_have_cells() {
        for (longitude, latitude) in [(180.0, LATITUDE_MAX), (-180.0, -LATITUDE_MAX), (0.0, 0.0)] {
            let place = Place { longitude, latitude };
            let again = Place::of_score(place.score());
            assert!(place.distance(again) < 1.0, "{place:?} {again:?}");
        }
    }
}
